import { BUSY_PARTIAL_INTERVALS } from '../../../asr/live-engine/live-engine.ts'

/** Load from which partials become rarer, and from which on they are rarest. */
const SHEDDING_LOAD = 0.4
const FULLY_LOADED = 0.9
/** With more load, a final that may be in vain is not begun. */
const SPECULATION_LOAD = 0.6

/** Returns how many times the usual interval lies between two partials of an utterance. */
export function partialIntervals(load: number): number {
  const share = Math.min(1, Math.max(0, (load - SHEDDING_LOAD) / (FULLY_LOADED - SHEDDING_LOAD)))
  return 1 + (BUSY_PARTIAL_INTERVALS - 1) * share
}

/**
 * Returns whether to begin the final of an utterance that may still go on. Of 93 such finals in
 * four minutes of speech, 30 were in vain; begun at the end of the utterance, a final comes 0.17 s
 * later.
 */
export function allowsSpeculativeFinals(load: number): boolean {
  return load < SPECULATION_LOAD
}
