/** @module Label selectors, as the API reads them: all of a list of requirements. */

/** @throws for what is no selector */
export function isSelected(labels: Readonly<Record<string, string>>, selector: string): boolean {
  const requirements = selector.split(/,(?![^(]*\))/).map((each) => each.trim())
  return requirements.map((each) => each === '' || holds(labels, each)).every(Boolean)
}

function holds(labels: Readonly<Record<string, string>>, requirement: string): boolean {
  const set = /^([\w./-]+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(requirement)
  if (set !== null) {
    const [, key = '', operator, values = ''] = set
    const isIn = values.split(',').some((value) => value.trim() === labels[key])
    return operator === 'in' ? isIn : !isIn
  }
  const equality = /^([\w./-]+)\s*(==?|!=)\s*([\w.-]*)$/.exec(requirement)
  if (equality !== null) {
    const [, key = '', operator, value] = equality
    return operator === '!=' ? labels[key] !== value : labels[key] === value
  }
  const existence = /^(!?)\s*([\w./-]+)$/.exec(requirement)
  if (existence === null) throw new Error(`unable to parse requirement: ${requirement}`)
  const [, not, key = ''] = existence
  return (labels[key] === undefined) === (not === '!')
}
