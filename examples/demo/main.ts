/** @module `npm start`: load balancing over real HTTP, to look at. `npm start -- --help` tells the rest. */

import { readArguments } from './arguments.js'
import { comparePolicies } from './compare-policies.js'
import { HELP } from './help.js'
import { callOwnServices } from './own-services.js'
import { exitStatusOf, lineOf } from './problem.js'
import { print } from './terminal.js'

// `npm start | head` closes the pipe when it has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))

try {
  const command = readArguments(process.argv.slice(2))
  if (command === 'help') print(HELP.trimEnd())
  else if (command === 'compare-policies') await comparePolicies()
  else await callOwnServices(command)
} catch (error) {
  process.stderr.write(`evenkeel: ${lineOf(error)}\n`)
  process.exitCode = exitStatusOf(error)
}
