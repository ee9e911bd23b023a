import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** The metrics of one server. Labels take few values: never an id, an account or a URL. */
export type Metrics = ReturnType<typeof createMetrics>

/** The kinds of jobs, as labels. */
export const jobKinds = ['pre-recorded', 'live'] as const
/** The kinds of deliveries, as labels. */
export const deliveryKinds = ['callback', 'live', 'webhook'] as const
/** The kinds of receivers, as labels. */
export const endpointKinds = ['callback', 'webhook'] as const
const jobOutcomes = ['done', 'client_error', 'server_error'] as const
const deliveryOutcomes = ['delivered', 'failed'] as const
const attemptOutcomes = ['delivered', 'refused', 'unanswered'] as const
const llmOutcomes = ['answered', 'failed'] as const
const llmTokenKinds = ['prompt', 'completion'] as const
const authFailures = ['key_missing', 'key_unknown', 'key_expired'] as const
const workerRoles = ['batch', 'live', 'partials', 'vad', 'diarization'] as const

/** How a job ended: `client_error` and `server_error` stand for a 4xx or 5xx code. */
export type JobOutcome = (typeof jobOutcomes)[number]

/** The outcome of a delivery attempt: a 2xx, another response, or none in time. */
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** Bucket bounds in seconds for short operations. */
const shortBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10, 30]
/** Bucket bounds in seconds for operations that may take hours. */
const longBuckets = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600]
/**
 * Bucket bounds of the real-time factor: a fast machine is below 0.02; above 1 it cannot keep up.
 */
const realTimeFactorBuckets = [
  0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5,
]

/** Creates all metrics of a server, in a registry of its own: a process may run several servers. */
export function createMetrics() {
  const registry = new Registry()
  const kinds = metricKinds(registry)
  const metrics = {
    registry,
    ...jobMetrics(kinds),
    ...liveMetrics(kinds),
    ...deliveryMetrics(kinds),
    ...llmMetrics(kinds),
    ...storageMetrics(kinds),
    ...serverMetrics(kinds),
  }
  beginAtZero(metrics)
  return metrics
}

/** Returns functions that create a metric of each kind in a registry. */
function metricKinds(registry: Registry) {
  const registers = [registry]
  return {
    counter<L extends string>(name: string, help: string, labelNames: L[]) {
      return new Counter({ name: `steno_${name}`, help, labelNames, registers })
    },
    gauge<L extends string>(name: string, help: string, labelNames: L[]) {
      return new Gauge({ name: `steno_${name}`, help, labelNames, registers })
    },
    histogram<L extends string>(
      name: string,
      help: string,
      { labelNames = [], buckets }: { labelNames?: L[]; buckets: number[] },
    ) {
      return new Histogram({ name: `steno_${name}`, help, labelNames, buckets, registers })
    },
  }
}

type MetricKinds = ReturnType<typeof metricKinds>

/** The metrics of jobs, of recordings and live. */
function jobMetrics({ counter, gauge, histogram }: MetricKinds) {
  return {
    jobs: gauge('jobs', 'Jobs that have not ended', ['kind', 'state']),
    jobsInStage: gauge('jobs_in_stage', 'Running jobs of recordings, by stage', ['stage']),
    jobsEnded: counter('jobs_ended_total', 'Jobs that have ended', ['kind', 'outcome']),
    jobQueueSeconds: histogram('job_queue_seconds', 'From due until taken from the queue', {
      buckets: longBuckets,
    }),
    jobSeconds: histogram('job_seconds', 'Attempt that ended a job, from taken to stored', {
      buckets: longBuckets,
    }),
    jobRealTimeFactor: histogram('job_real_time_factor', 'Seconds of work per second of audio', {
      buckets: realTimeFactorBuckets,
    }),
    audioSeconds: counter('audio_seconds_total', 'Audio of jobs that are done', ['kind']),
  }
}

/** The metrics of live sessions. */
function liveMetrics({ gauge, histogram }: MetricKinds) {
  return {
    liveCapacity: gauge('live_capacity', 'Sessions of continuous speech, of this process', [
      'kind',
    ]),
    liveSessions: gauge('live_sessions', 'Live sessions that have not ended', ['state']),
    liveAckSeconds: histogram('live_ack_seconds', 'From a chunk until it is stored', {
      buckets: shortBuckets,
    }),
    liveFinalSeconds: histogram('live_final_seconds', 'From the end of an utterance to its final', {
      buckets: shortBuckets,
    }),
    livePartialSeconds: histogram(
      'live_partial_seconds',
      'From the start of its recognition until a partial is sent',
      {
        buckets: shortBuckets,
      },
    ),
  }
}

/** The metrics of deliveries. */
function deliveryMetrics({ counter, gauge, histogram }: MetricKinds) {
  return {
    deliveriesEnded: counter('deliveries_ended_total', 'Deliveries that have ended', [
      'kind',
      'outcome',
    ]),
    deliveryAttempts: counter('delivery_attempts_total', 'Attempts at deliveries', [
      'kind',
      'outcome',
    ]),
    deliveryAttemptSeconds: histogram('delivery_attempt_seconds', 'Attempts at deliveries', {
      labelNames: ['kind'],
      buckets: shortBuckets,
    }),
    deliveriesPending: gauge('deliveries_pending', 'Deliveries that have not ended', ['kind']),
    endpointsDisabled: gauge('endpoints_disabled', 'Receivers that are disabled', ['kind']),
    liveCallbacksDropped: counter(
      'live_callbacks_dropped_total',
      'Messages dropped because too many were waiting for the callback',
      [],
    ),
  }
}

/** The metrics of language models. */
function llmMetrics({ counter, histogram }: MetricKinds) {
  return {
    llmRequests: counter('llm_requests_total', 'Requests to the language model', ['outcome']),
    llmTokens: counter('llm_tokens_total', 'Tokens, as the provider counts them', ['kind']),
    llmSeconds: histogram('llm_request_seconds', 'Requests to the language model', {
      buckets: [...shortBuckets, 60, 120, 300],
    }),
  }
}

/** The metrics of storage. */
function storageMetrics({ gauge }: MetricKinds) {
  return {
    storageFreeBytes: gauge('storage_free_bytes', 'Free bytes of the disk of the data folder', []),
    storageReserveBytes: gauge(
      'storage_reserve_bytes',
      'Free bytes below which new work is refused',
      [],
    ),
    storageHeldBytes: gauge('storage_held_bytes', 'Recordings, results and parameters', []),
    storageLargestShareBytes: gauge(
      'storage_largest_share_bytes',
      'The most bytes that anyone stores',
      [],
    ),
    storageLow: gauge('storage_low', '1 while new work is refused for want of space', []),
  }
}

/** The metrics of the processes and of their requests. */
function serverMetrics({ counter, gauge, histogram }: MetricKinds) {
  return {
    nodes: gauge('nodes', 'Processes that share the database, by role', ['role']),
    workerRestarts: counter('worker_restarts_total', 'Processes that ended and were replaced', [
      'role',
    ]),
    authFailures: counter('auth_failures_total', 'Requests without a valid key', ['reason']),
    httpRequestSeconds: histogram('http_request_seconds', 'Answers to requests', {
      labelNames: ['method', 'route', 'status'],
      buckets: [...shortBuckets, 60, 300],
    }),
  }
}

/**
 * Starts counters at zero. A counter that first appears with an event would hide that event,
 * because queries compute the increase.
 */
function beginAtZero(metrics: {
  jobsEnded: Counter<'kind' | 'outcome'>
  audioSeconds: Counter<'kind'>
  deliveriesEnded: Counter<'kind' | 'outcome'>
  deliveryAttempts: Counter<'kind' | 'outcome'>
  llmRequests: Counter<'outcome'>
  llmTokens: Counter<'kind'>
  workerRestarts: Counter<'role'>
  authFailures: Counter<'reason'>
}): void {
  for (const kind of jobKinds) {
    metrics.audioSeconds.inc({ kind }, 0)
    for (const outcome of jobOutcomes) metrics.jobsEnded.inc({ kind, outcome }, 0)
  }
  for (const kind of deliveryKinds) {
    for (const outcome of deliveryOutcomes) metrics.deliveriesEnded.inc({ kind, outcome }, 0)
    for (const outcome of attemptOutcomes) metrics.deliveryAttempts.inc({ kind, outcome }, 0)
  }
  for (const outcome of llmOutcomes) metrics.llmRequests.inc({ outcome }, 0)
  for (const kind of llmTokenKinds) metrics.llmTokens.inc({ kind }, 0)
  for (const reason of authFailures) metrics.authFailures.inc({ reason }, 0)
  for (const role of workerRoles) metrics.workerRestarts.inc({ role }, 0)
}

/**
 * Omitted default metrics: without an event since the last scrape they are NaN, and every scrape
 * resets them.
 */
const unusedLagMetrics = ['min', 'mean', 'stddev'].map(
  (name) => `nodejs_eventloop_lag_${name}_seconds`,
)

/** Adds the metrics of this process: memory, CPU, event loop, garbage collection. */
export function measureProcess({ registry }: Pick<Metrics, 'registry'>): void {
  collectDefaultMetrics({ register: registry })
  for (const name of unusedLagMetrics) registry.removeSingleMetric(name)
}

/** Returns the outcome of a job that failed with this status. */
export function outcomeOf({ code }: { code: number }): JobOutcome {
  return code < 500 ? 'client_error' : 'server_error'
}
