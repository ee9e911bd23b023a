import { secondsSince } from '../../clock.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { TraceSpan } from '../../observability/tracing.ts'

/**
 * Measures the latencies that clients of a session see. Times are milliseconds on the clock of
 * `performance.now()`.
 */
export type SessionMetrics = {
  /** Reports that a chunk that arrived at this time is stored, and thereby acknowledged. */
  stored(arrivedAt: number): void
  /** Reports that a partial that was started at this time is recognized. */
  partial(begunAt: number): void
  /**
   * Reports that the final of an utterance is stored and sent; `endedAt` is when the end of the
   * utterance was detected.
   */
  final(utterance: { id: string; endedAt: number }): void
}

/** Measures nothing. */
export const noMetrics: SessionMetrics = { stored() {}, partial() {}, final() {} }

/** Creates the metrics of a session; each final is also a child of the session's trace span. */
export function createSessionMetrics(
  span: TraceSpan,
  metrics: Metrics | undefined,
): SessionMetrics {
  return {
    stored: (arrivedAt) => metrics?.liveAckSeconds.observe(secondsSince(arrivedAt)),
    partial: (begunAt) => metrics?.livePartialSeconds.observe(secondsSince(begunAt)),
    final({ id, endedAt }) {
      metrics?.liveFinalSeconds.observe(secondsSince(endedAt))
      const attributes = { 'steno.utterance.id': id }
      span.start('utterance final', attributes, { startedAt: endedAt }).end()
    },
  }
}
