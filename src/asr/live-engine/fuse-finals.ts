import { setTimeout as wait } from 'node:timers/promises'
import { fuseRecognitions } from '../recognition/fusion.ts'
import type { FinalResult } from './live-engine.ts'

/** The longest wait for the second recognizer after the first has finished, in milliseconds. */
const MAX_DELAY_MS = 700

/** The recognitions to join, and the longest delay of the second one. */
export type FuseFinalsOptions = {
  first: Promise<FinalResult>
  /** Starts the second recognition; its signal aborts when it is too late. */
  second: (signal: AbortSignal) => Promise<FinalResult>
  signal: AbortSignal
  maxDelayMs?: number
}

/**
 * Joins the words of two recognizers, as recordings do. A second one that fails, or that comes too
 * late, is left out: a final must not wait long.
 */
export async function fuseFinals({
  first,
  second,
  signal,
  maxDelayMs = MAX_DELAY_MS,
}: FuseFinalsOptions): Promise<FinalResult> {
  const delayed = new AbortController()
  const secondResult = second(AbortSignal.any([signal, delayed.signal])).catch(() => undefined)
  try {
    const firstResult = await first
    const pause = wait(maxDelayMs, undefined, { signal: delayed.signal, ref: false }).catch(
      () => {},
    )
    const secondFinal = await Promise.race([secondResult, pause])
    if (!secondFinal) return firstResult
    return {
      ...firstResult,
      words: fuseRecognitions([firstResult, secondFinal]),
      model: `${firstResult.model}+${secondFinal.model}`,
      warnings: [...new Set([...firstResult.warnings, ...secondFinal.warnings])],
    }
  } finally {
    delayed.abort()
  }
}
