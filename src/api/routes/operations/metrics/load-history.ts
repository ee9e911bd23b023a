import type { FastifyBaseLogger } from 'fastify'
import type { Counter, Histogram } from 'prom-client'
import type { App } from '../../../../app/app-type.ts'
import { wallNow } from '../../../../clock.ts'
import { sum } from '../../../../numbers.ts'
import {
  countActiveJobs,
  countPendingDeliveries,
} from '../../../../storage/accounts/usage/counts.ts'
import { bucketsSince, type HistogramBucket, quantileOf } from './bucket-quantile.ts'

/** How often the load is recorded, and how many points are kept: half an hour of them. */
export const INTERVAL_MS = 10_000
const MAX_SAMPLES = 180
const QUANTILE = 0.95

/**
 * Routes whose requests last as long as the client sends or reads, or until an event: their
 * duration does not depend on the server.
 */
const EXCLUDED_ROUTES = /^\/file\/|\/(?:upload|events|captions|pull|file|audio|transcriptions)$/

/** The load at one moment, and what happened since the previous point. */
export type LoadPoint = {
  /** Milliseconds since 1970. */
  at: number
  queued: number
  processing: number
  /** Open sessions of this process. */
  sessions: number
  deliveries: number
  /** Seconds within which 95 % of the requests were answered; null without any. */
  requestSeconds: number | null
  /** Seconds within which 95 % of the finals were sent; null without any. */
  finalSeconds: number | null
  failedRequests: number
  failedJobs: number
  failedDeliveries: number
  workerRestarts: number
}

type Deps = Pick<App, 'metrics' | 'storage' | 'live'>

/** Records the load of the last half hour. */
export class LoadHistory {
  readonly #deps: Deps
  readonly #log: FastifyBaseLogger
  readonly #points: LoadPoint[] = []
  #previousCounts: Counts | undefined
  #timer: NodeJS.Timeout | undefined
  #recording: Promise<void> | undefined

  constructor(deps: Deps, log: FastifyBaseLogger) {
    this.#deps = deps
    this.#log = log
  }

  /** The recorded points, oldest first. */
  get points(): readonly LoadPoint[] {
    return this.#points
  }

  /** Records the load now and at every interval, until `close`. */
  start(): void {
    void this.record()
    this.#timer = setInterval(() => void this.record(), INTERVAL_MS).unref()
  }

  /** Stops the recording; resolves when a point that is being recorded is complete. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#recording
  }

  /**
   * Records the load of this moment. If it cannot be read, the point is left out and a warning is
   * logged.
   */
  record(): Promise<void> {
    this.#recording ??= this.#read()
      .then(
        (point) => {
          this.#points.push(point)
          if (this.#points.length > MAX_SAMPLES) this.#points.shift()
        },
        (err: unknown) => this.#log.warn({ err }, 'cannot read the load'),
      )
      .finally(() => {
        this.#recording = undefined
      })
    return this.#recording
  }

  async #read(): Promise<LoadPoint> {
    const { metrics, storage, live } = this.#deps
    const [jobs, deliveries, now] = await Promise.all([
      countActiveJobs(storage.db),
      countPendingDeliveries(storage.db),
      readCounts(metrics),
    ])
    const previous = this.#previousCounts ?? now
    this.#previousCounts = now
    const sumCounts = (counts: readonly { count: number }[]) =>
      counts.reduce((sum, { count }) => sum + Number(count), 0)
    const since = (name: 'failedRequests' | 'failedJobs' | 'failedDeliveries' | 'restarts') =>
      now[name] - previous[name]
    const quantileSince = (name: 'requests' | 'finals') =>
      quantileOf(bucketsSince(now[name], previous[name]), QUANTILE) ?? null
    return {
      at: wallNow(),
      queued: sumCounts(jobs.filter(({ kind, state }) => isRecording(kind) && state === 'queued')),
      processing: sumCounts(
        jobs.filter(({ kind, state }) => isRecording(kind) && state === 'processing'),
      ),
      sessions: sum(Object.values(live.states)),
      deliveries: sumCounts(deliveries),
      requestSeconds: quantileSince('requests'),
      finalSeconds: quantileSince('finals'),
      failedRequests: since('failedRequests'),
      failedJobs: since('failedJobs'),
      failedDeliveries: since('failedDeliveries'),
      workerRestarts: since('restarts'),
    }
  }
}

function isRecording(kind: string): boolean {
  return kind === 'pre-recorded'
}

/** The values of counters and histograms since the start of the process. */
type Counts = {
  requests: HistogramBucket[]
  finals: HistogramBucket[]
  failedRequests: number
  failedJobs: number
  failedDeliveries: number
  restarts: number
}

type Labels = Partial<Record<string, string | number>>

async function readCounts(metrics: Deps['metrics']): Promise<Counts> {
  const { httpRequestSeconds, liveFinalSeconds, jobsEnded, deliveriesEnded } = metrics
  const [requests, finals, failedJobs, failedDeliveries, restarts] = await Promise.all([
    httpRequestSeconds.get(),
    liveFinalSeconds.get(),
    sumOfCounter(jobsEnded, ({ outcome }) => outcome === 'server_error'),
    sumOfCounter(deliveriesEnded, ({ outcome }) => outcome === 'failed'),
    sumOfCounter(metrics.workerRestarts, () => true),
  ])
  const failedRequests = requests.values
    .filter(({ metricName, labels }) => {
      return metricName?.endsWith('_count') && Number(labels.status) >= 500
    })
    .reduce((sum, { value }) => sum + value, 0)
  return {
    requests: bucketsOf(requests, ({ route }) => !EXCLUDED_ROUTES.test(String(route))),
    finals: bucketsOf(finals, () => true),
    failedRequests,
    failedJobs,
    failedDeliveries,
    restarts,
  }
}

async function sumOfCounter<L extends string>(
  counter: Counter<L>,
  isIncluded: (labels: Labels) => boolean,
): Promise<number> {
  const { values } = await counter.get()
  return values
    .filter(({ labels }) => isIncluded(labels))
    .reduce((sum, { value }) => sum + value, 0)
}

type HistogramValues = Awaited<ReturnType<Histogram<string>['get']>>

/** Adds up the buckets of all included labels. */
function bucketsOf(
  { values }: HistogramValues,
  isIncluded: (labels: Labels) => boolean,
): HistogramBucket[] {
  const counts = new Map<number, number>()
  for (const { metricName, labels, value } of values) {
    if (!metricName?.endsWith('_bucket') || !isIncluded(labels)) continue
    const bound = Number(labels.le === '+Inf' ? Number.POSITIVE_INFINITY : labels.le)
    counts.set(bound, (counts.get(bound) ?? 0) + value)
  }
  return [...counts].map(([bound, count]) => ({ bound, count }))
}
