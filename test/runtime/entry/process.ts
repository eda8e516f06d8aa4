/** @module The conformance as a program of Node, Deno and Bun: context as its argument, report as its last line. */

import { runAll } from '../../conformance/run.js'

const report = await runAll(JSON.parse(process.argv[2] ?? ''), (name) => console.error(name))
console.log(JSON.stringify(report))
