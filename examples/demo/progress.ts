/** @module A progress bar on a terminal, nothing elsewhere. */

import cliProgress from 'cli-progress'

export interface Progress {
  advance(): void
  /** Takes the bar off the screen. */
  stop(): void
}

export function showProgress(title: string, total: number): Progress {
  if (process.stderr.isTTY !== true) return { advance() {}, stop() {} }
  const bar = new cliProgress.SingleBar({
    stream: process.stderr,
    format: `${title} {bar} {value}/{total}`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 30,
    clearOnComplete: true,
    // Otherwise a run stopped by Ctrl-C leaves the terminal without line wrapping.
    linewrap: true,
  })
  bar.start(total, 0)
  return { advance: () => bar.increment(), stop: () => bar.stop() }
}
