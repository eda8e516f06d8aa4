/** @module An explanation for a person. */

import type { ExplainedLayer, Explanation } from 'evenkeel'
import { aligned } from './aligned.js'
import { seconds } from './numbers.js'

const MOST_NAMES = 12

export function explanationText(explanation: Explanation): string {
  const { policy, source, layers, candidates, excluded, notes } = explanation
  const isStatic = source.discovery === 'static'
  return [
    aligned(
      layers.map((layer) => [layer.name, `${layer.in} in`, `${layer.out} out`, remarkOn(layer, isStatic)]),
      ['left', 'right', 'right', 'left'],
    ),
    '',
    aligned([
      ['policy', policy],
      [
        'source',
        Object.entries(source)
          .map(([key, value]) => `${key} ${value}`)
          .join(', '),
      ],
      ['candidates', namesOf(candidates.map(({ instanceId }) => instanceId)) || 'none'],
      ...labelled('excluded', exclusions(excluded)),
      ...labelled('note', notes),
    ]),
  ].join('\n')
}

/** How old a list is says nothing where it never changes by itself. */
function remarkOn({ fellBack, reason, ageMs }: ExplainedLayer, isStatic: boolean): string {
  const age = ageMs === undefined || isStatic ? '' : `${seconds(ageMs)} old`
  return [age, fellBack ? 'fell back' : '', reason ?? ''].filter((remark) => remark !== '').join(': ')
}

/** One line for all that one layer left out for one reason. */
function exclusions(excluded: Explanation['excluded']): string[] {
  const groups = new Map<string, string[]>()
  for (const { instanceId, by, reason } of excluded) {
    const why = `by ${by} (${reason})`
    const group = groups.get(why)
    if (group === undefined) groups.set(why, [instanceId])
    else group.push(instanceId)
  }
  return [...groups].map(([why, ids]) => `${namesOf(ids)} ${why}`)
}

function namesOf(ids: readonly string[]): string {
  const named = ids.slice(0, MOST_NAMES).join(', ')
  return ids.length > MOST_NAMES ? `${named} and ${ids.length - MOST_NAMES} more` : named
}

function labelled(label: string, lines: readonly string[]): [string, string][] {
  return lines.map((line, i) => [i === 0 ? label : '', line])
}
