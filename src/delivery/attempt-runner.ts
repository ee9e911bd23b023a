import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { AttemptOutcome, Metrics } from '../metrics.ts'
import type { Delivery, Settlement } from '../storage/deliveries/deliveries.ts'
import { noTracing, type Tracing, traced } from '../tracing.ts'
import { type AttemptTools, type AttemptUse, attemptDelivery } from './attempt.ts'
import { AttemptResults } from './attempt-results.ts'
import { disableFailingEndpoint } from './disable-endpoint.ts'

/** The metrics of deliveries. */
export type DeliveryMetrics = Pick<
  Metrics,
  'deliveriesEnded' | 'deliveryAttempts' | 'deliveryAttemptSeconds'
>

/** What attempts are made, written and logged with. */
export type AttemptRunnerOptions = AttemptTools & {
  settings: Config['delivery']
  log: Log
  metrics?: DeliveryMetrics | undefined
  tracing?: Tracing | undefined
  /** Aborted when the server stops. */
  closing: AbortSignal
}

/** How an attempt went. `undefined` means no outcome: the delivery is as due as before. */
export type AttemptReport = { isSuccess: boolean | undefined; nextAt: number }

/** Pause after the database failed to read what to send, or to disable an endpoint. */
const PAUSE_MS = 1000

/** Makes delivery attempts and ensures that their outcomes are written. */
export class AttemptRunner {
  readonly #options: AttemptRunnerOptions
  readonly #attemptResults: AttemptResults
  /** How many failures of each endpoint are being written, after which it may be disabled. */
  readonly #failing = new Map<string, number>()

  constructor(options: AttemptRunnerOptions) {
    const { closing: signal } = options
    this.#options = options
    this.#attemptResults = new AttemptResults({ ...options, signal })
  }

  /**
   * Whether an endpoint is about to be judged: its next delivery may be due already, although the
   * endpoint is going to be disabled.
   */
  isFailing(endpointId: string): boolean {
    return this.#failing.has(endpointId)
  }

  /**
   * Makes one attempt. Resolves when its outcome is written; until then the delivery counts as in
   * flight.
   */
  async carry(delivery: Delivery, use: AttemptUse): Promise<AttemptReport> {
    const { signal } = use
    const { log, clock, closing } = this.#options
    const nothing = { isSuccess: undefined, nextAt: clock.now() }
    try {
      const settlement = await this.#attempt(delivery, use)
      using _ = this.#judge(settlement)
      await this.#attemptResults.write(settlement)
      this.#tell(delivery, settlement)
      const isSuccess = settlement.outcome === 'delivered'
      const isDisabled = !isSuccess && (await this.#disableIfHopeless(delivery, settlement))
      // A delivery that ended lets the next of its lane follow at once, or fail if the endpoint is
      // disabled.
      const isNow = isDisabled || settlement.outcome !== 'retry'
      return { isSuccess, nextAt: isNow ? clock.now() : settlement.nextAt }
    } catch (error) {
      if (signal.aborted || closing.aborted) return nothing
      const { id: deliveryId, jobId } = delivery
      log.error({ err: error, deliveryId, jobId }, 'cannot make an attempt at a delivery')
      await clock.sleep(PAUSE_MS, signal)
      return nothing
    }
  }

  /** Notes that an endpoint is about to be judged, until disposed of. */
  #judge({ delivery: { endpointId }, outcome }: Settlement): Disposable {
    if (outcome === 'delivered') return { [Symbol.dispose]() {} }
    const failing = this.#failing
    failing.set(endpointId, (failing.get(endpointId) ?? 0) + 1)
    return {
      [Symbol.dispose]() {
        const left = failing.get(endpointId)! - 1
        if (left > 0) failing.set(endpointId, left)
        else failing.delete(endpointId)
      },
    }
  }

  #attempt(delivery: Delivery, use: AttemptUse): Promise<Settlement> {
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
      const settlement = await attemptDelivery(this.#options, delivery, use)
      const { status } = settlement.attempt
      span.set({ 'steno.delivery.outcome': settlement.outcome })
      if (status !== null) span.set({ 'http.response.status_code': status })
      return settlement
    })
  }

  #tell(delivery: Delivery, { attempt, ...verdict }: Settlement): void {
    const { log, metrics } = this.#options
    const { id: deliveryId, jobId, endpointId, account, kind } = delivery
    const { status, error, ms } = attempt
    metrics?.deliveryAttempts.inc({ kind, outcome: attemptOutcome(verdict.outcome, status) })
    metrics?.deliveryAttemptSeconds.observe({ kind }, ms / 1000)
    const { outcome } = verdict
    if (outcome !== 'retry') metrics?.deliveriesEnded.inc({ kind, outcome })
    const ids = { deliveryId, jobId, endpointId, account, kind, attempt: delivery.attempts + 1 }
    const fields = { ...ids, outcome, status, ms, ...(error !== null && { error }) }
    if (outcome === 'failed') log.warn(fields, 'delivery given up')
    else log.info(fields, outcome === 'retry' ? 'delivery will be tried again' : 'delivered')
  }

  /**
   * Retries until the database accepts it: an endpoint that is gone must not be requested again.
   */
  async #disableIfHopeless(delivery: Delivery, settlement: Settlement): Promise<boolean> {
    const { db, log, settings, clock, closing } = this.#options
    const { endpointId } = delivery
    while (!closing.aborted) {
      try {
        const failure = { delivery, settlement, at: clock.now() }
        const reason = await disableFailingEndpoint(db, settings, failure)
        if (reason) log.warn({ endpointId, reason }, 'endpoint disabled')
        return reason !== undefined
      } catch (error) {
        log.error({ err: error, endpointId }, 'cannot disable an endpoint, trying again')
        await clock.sleep(PAUSE_MS, closing)
      }
    }
    return false
  }
}

function attemptOutcome(outcome: Settlement['outcome'], status: number | null): AttemptOutcome {
  if (outcome === 'delivered') return 'delivered'
  return status === null ? 'unanswered' : 'refused'
}
