import { setTimeout as delay } from 'node:timers/promises'
import { fuseRecognitions } from '../recognition/fusion.ts'
import type { FinalResult } from './live-engine.ts'

/** The longest wait for the second recognizer after the first has finished, in milliseconds. */
const MAX_DELAY_MS = 700

/** The recognitions to fuse, and the longest delay of the second one. */
export type FuseFinalsOptions = {
  first: Promise<FinalResult>
  /** Starts the second recognition; its signal aborts when it is too late. */
  second: (signal: AbortSignal) => Promise<FinalResult>
  signal: AbortSignal
  maxDelayMs?: number
}

/**
 * Fuses the words of two recognizers, as for recordings. Leaves out the second one if it fails or
 * takes too long, because a final must not wait long.
 */
export async function fuseFinals({
  first,
  second,
  signal,
  maxDelayMs = MAX_DELAY_MS,
}: FuseFinalsOptions): Promise<FinalResult> {
  const cancellation = new AbortController()
  const secondResult = second(AbortSignal.any([signal, cancellation.signal])).catch(() => undefined)
  try {
    const firstResult = await first
    const pause = delay(maxDelayMs, undefined, { signal: cancellation.signal, ref: false }).catch(
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
    cancellation.abort()
  }
}
