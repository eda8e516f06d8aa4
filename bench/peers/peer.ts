/** @module What a contestant from npm is. */

/** Makes one choice; answers a number that is made from it. */
export type Choice = (op: number) => number

export interface Peer {
  readonly name: string
  /** What it does that differs from ours, for the report. */
  readonly note?: string
  /** Counts what it chose, and nothing that ends: so does the core's lease. */
  readonly endsNothing?: true
  /** Choices made in one call, where the usual number would take too long. */
  ops?(n: number): number
  /** Over n instances, with weights where the policy goes by them. */
  of(n: number, weightOf: (i: number) => number, keys: readonly string[]): Choice
}
