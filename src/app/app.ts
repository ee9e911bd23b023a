import type { AddressInfo } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyInstance } from 'fastify'
import { createHttp } from '../api/http.ts'
import { createSpeechEngine } from '../asr/create-speech-engine.ts'
import { engineOptions } from '../asr/model-selection/engine-options.ts'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import type { Config } from '../config/config.ts'
import { readProgramVersion } from '../config/version.ts'
import type { RetryDelays } from '../delivery/attempts/retry-schedule.ts'
import { DeliveryService } from '../delivery/delivery-service.ts'
import type { Clock } from '../delivery/system-clock.ts'
import { Jobs } from '../jobs/jobs.ts'
import type { SpaceWait } from '../jobs/queue/attempt.ts'
import { LiveService } from '../live/live-service.ts'
import type { PullQueue } from '../models/pull-queue.ts'
import { createServerLog, type Log } from '../observability/log.ts'
import { createMetrics, type Metrics, measureProcess } from '../observability/metrics.ts'
import { createTracing } from '../observability/tracing.ts'
import { watchDescriptors } from '../observability/watch-descriptors.ts'
import type { ConnectSqlite } from '../storage/database/sqlite/sqlite.ts'
import type { JobRef } from '../storage/jobs/jobs.ts'
import { openStorage } from '../storage/storage.ts'
import { LiveText } from '../text/live/live-text.ts'
import { ResultBuilder } from '../text/result/result-builder.ts'
import type { App } from './app-type.ts'
import { checkNodeUrl } from './check-node-url.ts'
import { openLanguageServices } from './language-services.ts'
import { createModelAdmin } from './models/create-model-admin.ts'
import { createPullQueue } from './models/model-pulls.ts'
import { remoteOptions } from './remote-asr.ts'

/** Parts that replace the defaults, as in tests. */
export type Overrides = {
  speech?: SpeechEngine
  log?: Log
  /** The clock of deliveries. */
  clock?: Clock | undefined
  /** Delays between attempts at a delivery. */
  delays?: RetryDelays | undefined
  /** The threads that build results; a caller that passes them closes them. */
  resultBuilder?: ResultBuilder | undefined
  liveText?: LiveText | undefined
  drainMs?: number
  graceMs?: number
  /** Opens connections to a SQLite database. */
  connect?: ConnectSqlite | undefined
  /** Whether finished transcripts are indexed for search; default true. */
  indexesTranscripts?: boolean | undefined
  /** How a job waits when there is no disk space. */
  spaceWait?: SpaceWait | undefined
  /** Aborts a start that migrates a large database. */
  signal?: AbortSignal | undefined
}

/**
 * How long running requests may take to end when the server stops; then their connections are cut.
 */
const DRAIN_MS = 30_000

/**
 * Builds everything, in order, and starts working on queued jobs; `http` does not listen yet. Parts
 * close in reverse order, even if a later part cannot be created.
 */
export async function createApp(config: Config, overrides: Overrides = {}): Promise<App> {
  await using resources = new AsyncDisposableStack()
  const log = overrides.log ?? createServerLog(config)

  resources.use(watchDescriptors(log))

  const metrics = createMetrics()
  measureProcess(metrics)
  const tracing = await createTracing(config, log)
  resources.defer(() => tracing.close())

  const { signal, connect } = overrides
  const storage = await openStorage({ ...storageOptions(config), log, signal, connect })
  resources.defer(() => storage.close())

  const pulls = resources.adopt(createPullQueue(config, log), (queue) => queue.close())
  const { roles } = config.node
  const speech = overrides.speech ?? startSpeech(config, { log, metrics, pulls })
  resources.defer(() => speech.close())

  const resultBuilder =
    overrides.resultBuilder ??
    resources.adopt(new ResultBuilder({ log }), (builder) => builder.close())
  const liveText =
    overrides.liveText ?? resources.adopt(new LiveText({ log }), (text) => text.close())

  const services = await openLanguageServices(config, { log, metrics, speech, db: storage.db })
  resources.defer(() => services.close())

  const { clock, delays } = overrides
  const onEnded = (jobId: string) => jobs.service.deleteDeliveredJob(jobId)
  const observers = { log, metrics, tracing }
  const delivery = new DeliveryService({ config, ...observers, storage, clock, delays, onEnded })
  resources.defer(() => delivery.close())
  const onEvents = () => delivery.wake()
  const onDeleted = (jobId: string) => delivery.abortJob(jobId)

  const base = { config, log, metrics, tracing, storage, speech }
  const { drainMs = DRAIN_MS, graceMs, indexesTranscripts, spaceWait } = overrides
  const runsJobs = roles.includes('worker')
  const jobs = new Jobs({
    ...base,
    resultBuilder,
    services,
    runsJobs,
    indexesTranscripts,
    onEvents,
    onDeleted,
    graceMs,
    spaceWait,
  })
  resources.defer(() => jobs.close())

  const onResultDelivered = (job: JobRef) => jobs.service.markResultDelivered(job)
  const live = new LiveService({ ...base, liveText, services, onEvents, onResultDelivered })
  const models = createModelAdmin({ config, pulls })
  const http = await createHttp({ ...base, models, delivery, jobs, live })
  // In parallel, so that no new job starts once the stop begins, and no job waits for a slow client
  // before it returns to the queue.
  resources.defer(async () => {
    await Promise.all([closeHttp(http, { drainMs }), jobs.drain(), live.drain()])
  })

  http.addHook('onListen', () => reportUrl(config, { http, storage, log }))
  if (roles.includes('delivery')) await delivery.start()
  await jobs.start()
  await live.start()
  const parts = resources.move()
  return { ...base, models, delivery, jobs, live, http, close: () => parts.disposeAsync() }
}

function startSpeech(
  config: Config,
  { log, metrics, pulls }: { log: Log; metrics: Metrics; pulls: PullQueue },
): SpeechEngine {
  const { roles } = config.node
  return createSpeechEngine({
    ...engineOptions(config),
    remote: remoteOptions(config, log),
    pulls: config.models.autoPull ? pulls : undefined,
    log,
    metrics,
    prepacks: roles.includes('worker') || roles.includes('live'),
  })
}

/** Shows other nodes the URL of this one, and checks it if they need it. */
async function reportUrl(
  config: Config,
  { http, storage, log }: Pick<App, 'http' | 'storage' | 'log'>,
): Promise<void> {
  const url = nodeUrl(config, http)
  await storage.node.report({ url })
  const { nodeId, isShared } = storage.db
  if (isShared && config.node.roles.includes('live')) void checkNodeUrl(url, { nodeId, log })
}

/**
 * Returns the URL by which other nodes reach this one: the configured one, or the address it
 * listens on.
 */
function nodeUrl({ node, http: { host } }: Config, http: FastifyInstance): string {
  if (node.url) return node.url
  const isAny = ['0.0.0.0', '::', ''].includes(host)
  const name = isAny ? hostname() : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${(http.server.address() as AddressInfo).port}`
}

function storageOptions({ storage, keys, node }: Config) {
  const { folder, database, objectStore, objectKeys } = storage
  const { accountMaxBytes, minFreeBytes, trustClock, orphanDays } = storage
  const accounts = keys.map(({ account }) => account)
  const limits = { accountMaxBytes, minFreeBytes, accounts }
  const keeping = { trustClock, keepOrphans: orphanDays > 0 }
  const state = { roles: node.roles, version: readProgramVersion(), isDraining: false }
  return { folder, database, objectStore, objectKeys, ...limits, ...keeping, node: state }
}

/**
 * Waits up to `drainMs` for running requests, then closes their connections; new requests get 503.
 */
async function closeHttp(http: FastifyInstance, { drainMs }: { drainMs: number }): Promise<void> {
  const cut = setTimeout(() => http.server.closeAllConnections(), drainMs)
  await http.close()
  clearTimeout(cut)
}
