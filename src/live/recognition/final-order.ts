/**
 * The order in which finals are emitted: that in which their utterances ended. Each channel has its
 * own order, or the session has one for all: the speaker of a final depends on all finals emitted
 * before it.
 */
export type FinalOrder = { tail: Promise<void>; nextSequence: number }

/** Creates an order in which nothing has been emitted yet. */
export function createFinalOrder(): FinalOrder {
  return { tail: Promise.resolve(), nextSequence: 0 }
}
