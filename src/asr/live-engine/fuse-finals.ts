import { setTimeout as wait } from 'node:timers/promises'
import { fuseRecognitions } from '../recognition/fusion.ts'
import type { FinalResult } from './live-engine.ts'

/** A session waits so long for the second recognizer once it has the words of the first, in ms. */
const PATIENCE_MS = 700

/** The recognitions to join, and for how long the second one may be late. */
export type FuseFinals = {
  first: Promise<FinalResult>
  /** Begins the second recognition; it is canceled when it is too late. */
  second: (signal: AbortSignal) => Promise<FinalResult>
  signal: AbortSignal
  patienceMs?: number
}

/**
 * Joins the words of two recognizers, as recordings do. A second one that fails, or that comes too
 * late, is left out: a final must not wait long.
 */
export async function fuseFinals({
  first,
  second,
  signal,
  patienceMs = PATIENCE_MS,
}: FuseFinals): Promise<FinalResult> {
  const late = new AbortController()
  const secondResult = second(AbortSignal.any([signal, late.signal])).catch(() => undefined)
  try {
    const firstResult = await first
    const pause = wait(patienceMs, undefined, { signal: late.signal, ref: false }).catch(() => {})
    const two = await Promise.race([secondResult, pause])
    if (!two) return firstResult
    return {
      ...firstResult,
      words: fuseRecognitions([firstResult, two]),
      model: `${firstResult.model}+${two.model}`,
      warnings: [...new Set([...firstResult.warnings, ...two.warnings])],
    }
  } finally {
    late.abort()
  }
}
