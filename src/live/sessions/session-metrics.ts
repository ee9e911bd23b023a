import type { Metrics } from '../../metrics.ts'
import type { Span } from '../../tracing.ts'

/** Measures what the clients of a session wait for. Moments are on the clock of `performance.now()`. */
export type SessionMetrics = {
  /** A chunk that arrived then is stored, and acknowledged with that. */
  stored(arrivedAt: number): void
  /** A partial is made that was begun then. */
  partial(begunAt: number): void
  /** The final of an utterance is stored, and goes out; that it had ended was known then. */
  final(utterance: { id: string; endedAt: number }): void
}

/** Measures nothing. */
export const noMetrics: SessionMetrics = { stored() {}, partial() {}, final() {} }

/** Measures a session, each final as a part of its span. */
export function createSessionMetrics(span: Span, metrics: Metrics | undefined): SessionMetrics {
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
