import type { Config } from '../../config/config.ts'
import type { Log } from '../../observability/log.ts'
import type { AttemptOutcome, Metrics } from '../../observability/metrics.ts'
import { noTracing, type Tracing, traced } from '../../observability/tracing.ts'
import type { AttemptResult, Delivery } from '../../storage/deliveries/deliveries.ts'
import {
  attemptDelivery,
  type DeliveryAttemptDeps,
  type DeliveryAttemptOptions,
} from './attempt-delivery.ts'
import { AttemptResults } from './attempt-results.ts'

/** The metrics of deliveries. */
export type DeliveryMetrics = Pick<
  Metrics,
  'deliveriesEnded' | 'deliveryAttempts' | 'deliveryAttemptSeconds'
>

/** The dependencies of attempts: for making, writing and logging them. */
export type AttemptRunnerOptions = DeliveryAttemptDeps & {
  settings: Config['delivery']
  log: Log
  metrics?: DeliveryMetrics | undefined
  tracing?: Tracing | undefined
  /** Aborted when the server stops. */
  closing: AbortSignal
}

/**
 * The outcome of an attempt. `isSuccess` is undefined if there was none: the delivery is still due.
 * `nextAt` is when the next delivery may be due, in milliseconds since 1970.
 */
export type AttemptReport = { isSuccess: boolean | undefined; nextAt: number }

/** Pause after the body could not be read from the database. */
const PAUSE_MS = 1000

/** Makes delivery attempts and ensures that their outcomes are written. */
export class AttemptRunner {
  readonly #options: AttemptRunnerOptions
  readonly #attemptResults: AttemptResults

  constructor(options: AttemptRunnerOptions) {
    const { closing: signal } = options
    this.#options = options
    this.#attemptResults = new AttemptResults({ ...options, signal })
  }

  /**
   * Makes one attempt. Resolves when its outcome is written; until then the delivery counts as in
   * flight.
   */
  async run(delivery: Delivery, options: DeliveryAttemptOptions): Promise<AttemptReport> {
    const { signal } = options
    const { log, clock, closing } = this.#options
    const noOutcome = { isSuccess: undefined, nextAt: clock.now() }
    try {
      const result = await this.#attempt(delivery, options)
      const reason = await this.#attemptResults.write({ delivery, result })
      this.#log(delivery, result)
      const { endpointId } = delivery
      if (reason !== undefined) log.warn({ endpointId, reason }, 'endpoint disabled')
      // The end of a delivery makes the next one of its sequence due at once; it fails if the
      // endpoint is disabled.
      const isNow = reason !== undefined || result.outcome !== 'retry'
      const isSuccess = result.outcome === 'delivered'
      return { isSuccess, nextAt: isNow ? clock.now() : result.nextAt }
    } catch (error) {
      if (signal.aborted || closing.aborted) return noOutcome
      const { id: deliveryId, jobId } = delivery
      log.error({ err: error, deliveryId, jobId }, 'cannot attempt a delivery')
      await clock.sleep(PAUSE_MS, signal)
      return noOutcome
    }
  }

  #attempt(delivery: Delivery, options: DeliveryAttemptOptions): Promise<AttemptResult> {
    const { tracing = noTracing } = this.#options
    const { id: deliveryId, jobId, endpointId, kind, attempts } = delivery
    const attributes = {
      'steno.delivery.id': deliveryId,
      'steno.delivery.kind': kind,
      'steno.delivery.attempt': attempts + 1,
      'steno.endpoint.id': endpointId,
      ...(jobId !== null && { 'steno.job.id': jobId }),
    }
    const span = tracing.start('delivery attempt', attributes, { kind: 'client' })
    return traced(span, async () => {
      const result = await attemptDelivery(this.#options, delivery, options)
      const { status } = result.attempt
      span.set({ 'steno.delivery.outcome': result.outcome })
      if (status !== null) span.set({ 'http.response.status_code': status })
      return result
    })
  }

  #log(delivery: Delivery, { attempt, ...decision }: AttemptResult): void {
    const { log, metrics } = this.#options
    const { id: deliveryId, jobId, endpointId, account, kind } = delivery
    const { status, error, ms } = attempt
    metrics?.deliveryAttempts.inc({ kind, outcome: attemptOutcome(decision.outcome, status) })
    metrics?.deliveryAttemptSeconds.observe({ kind }, ms / 1000)
    const { outcome } = decision
    if (outcome !== 'retry') metrics?.deliveriesEnded.inc({ kind, outcome })
    const ids = { deliveryId, jobId, endpointId, account, kind, attempt: delivery.attempts + 1 }
    const fields = { ...ids, outcome, status, ms, ...(error !== null && { error }) }
    if (outcome === 'failed') log.warn(fields, 'delivery failed')
    else log.info(fields, outcome === 'retry' ? 'delivery will be retried' : 'delivered')
  }
}

function attemptOutcome(outcome: AttemptResult['outcome'], status: number | null): AttemptOutcome {
  if (outcome === 'delivered') return 'delivered'
  return status === null ? 'unanswered' : 'refused'
}
