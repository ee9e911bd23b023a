/**
 * The order in which finals are emitted: the order in which their utterances ended. `tail` resolves
 * when the last of them is emitted. Each channel has its own order, unless speakers are labeled:
 * then all channels share one, since the speaker of a final depends on all finals emitted before
 * it.
 */
export type FinalOrder = { tail: Promise<void>; nextSequence: number }

/** Creates an order in which nothing has been emitted yet. */
export function createFinalOrder(): FinalOrder {
  return { tail: Promise.resolve(), nextSequence: 0 }
}
