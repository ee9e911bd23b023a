import type { FastifyBaseLogger } from 'fastify'
import type { Counter, Histogram } from 'prom-client'
import type { App } from '../../../../app/app-type.ts'
import { wallNow } from '../../../../clock.ts'
import {
  countActiveJobs,
  countPendingDeliveries,
} from '../../../../storage/accounts/usage/counts.ts'
import { bucketsSince, type HistogramBucket, quantileOf } from './bucket-quantile.ts'

/** How often the load is noted, and how much of it is kept: half an hour. */
export const INTERVAL_MS = 10_000
const MAX_SAMPLES = 180
const QUANTILE = 0.95

/**
 * Requests that take as long as their client sends or reads, or until something happens: how long
 * says nothing about the server.
 */
const UNTIMED = /^\/file\/|\/(?:upload|events|captions|pull|file|audio|transcriptions)$/

/** The load of one moment, and what happened since the one before. */
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
  /** Seconds within which 95 % of the finals came; null without any. */
  finalSeconds: number | null
  failedRequests: number
  failedJobs: number
  failedDeliveries: number
  workerRestarts: number
}

type Deps = Pick<App, 'metrics' | 'storage' | 'live'>

/** The load of the last half hour, for people who look now. */
export class LoadHistory {
  readonly #deps: Deps
  readonly #log: FastifyBaseLogger
  readonly #points: LoadPoint[] = []
  #before: Counts | undefined
  #timer: NodeJS.Timeout | undefined
  #noting: Promise<void> | undefined

  constructor(deps: Deps, log: FastifyBaseLogger) {
    this.#deps = deps
    this.#log = log
  }

  /** Oldest first. */
  get points(): readonly LoadPoint[] {
    return this.#points
  }

  /** Notes the load now and at every interval, until `close`. */
  start(): void {
    void this.note()
    this.#timer = setInterval(() => void this.note(), INTERVAL_MS).unref()
  }

  /** Ends with what is being noted. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#noting
  }

  /** Notes the load of this moment; one that cannot be read is left out. */
  note(): Promise<void> {
    this.#noting ??= this.#read()
      .then(
        (point) => {
          this.#points.push(point)
          if (this.#points.length > MAX_SAMPLES) this.#points.shift()
        },
        (err: unknown) => this.#log.warn({ err }, 'cannot read the load'),
      )
      .finally(() => {
        this.#noting = undefined
      })
    return this.#noting
  }

  async #read(): Promise<LoadPoint> {
    const { metrics, storage, live } = this.#deps
    const [jobs, deliveries, now] = await Promise.all([
      countActiveJobs(storage.db),
      countPendingDeliveries(storage.db),
      readCounts(metrics),
    ])
    const before = this.#before ?? now
    this.#before = now
    const sumOf = (counts: readonly { count: number }[]) =>
      counts.reduce((sum, { count }) => sum + Number(count), 0)
    const since = (name: 'failedRequests' | 'failedJobs' | 'failedDeliveries' | 'restarts') =>
      now[name] - before[name]
    const slowest = (name: 'requests' | 'finals') =>
      quantileOf(bucketsSince(now[name], before[name]), QUANTILE) ?? null
    return {
      at: wallNow(),
      queued: sumOf(jobs.filter(({ kind, state }) => isRecording(kind) && state === 'queued')),
      processing: sumOf(
        jobs.filter(({ kind, state }) => isRecording(kind) && state === 'processing'),
      ),
      sessions: Object.values(live.states).reduce((sum, count) => sum + count, 0),
      deliveries: sumOf(deliveries),
      requestSeconds: slowest('requests'),
      finalSeconds: slowest('finals'),
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

/** What counters and histograms have counted since the start. */
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
    requests: bucketsOf(requests, ({ route }) => !UNTIMED.test(String(route))),
    finals: bucketsOf(finals, () => true),
    ...{ failedRequests, failedJobs, failedDeliveries, restarts },
  }
}

async function sumOfCounter<L extends string>(
  counter: Counter<L>,
  isMeant: (labels: Labels) => boolean,
): Promise<number> {
  const { values } = await counter.get()
  return values.filter(({ labels }) => isMeant(labels)).reduce((sum, { value }) => sum + value, 0)
}

type HistogramValues = Awaited<ReturnType<Histogram<string>['get']>>

/** Adds up the buckets of all labels that are meant. */
function bucketsOf(
  { values }: HistogramValues,
  isMeant: (labels: Labels) => boolean,
): HistogramBucket[] {
  const counts = new Map<number, number>()
  for (const { metricName, labels, value } of values) {
    if (!metricName?.endsWith('_bucket') || !isMeant(labels)) continue
    const bound = Number(labels.le === '+Inf' ? Number.POSITIVE_INFINITY : labels.le)
    counts.set(bound, (counts.get(bound) ?? 0) + value)
  }
  return [...counts].map(([bound, count]) => ({ bound, count }))
}
