import type { Metrics } from '../../observability/metrics.ts'
import type { TraceSpan } from '../../observability/tracing.ts'

/**
 * Measures the latencies that clients of a session see. Times are on the clock of
 * `performance.now()`.
 */
export type SessionMetrics = {
  /** Reports that a chunk that arrived at this time is stored, and thereby acknowledged. */
  stored(arrivedAt: number): void
  /** Reports that a partial is done that was started at this time. */
  partial(begunAt: number): void
  /**
   * Reports that the final of an utterance is stored and sent; `endedAt` is when its end was known.
   */
  final(utterance: { id: string; endedAt: number }): void
}

/** Measures nothing. */
export const noMetrics: SessionMetrics = { stored() {}, partial() {}, final() {} }

/** Measures a session, each final as a part of its span. */
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

function secondsSince(moment: number): number {
  return (performance.now() - moment) / 1000
}
