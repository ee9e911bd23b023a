import type { FastifyInstance } from 'fastify'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import type { Config } from '../config/config.ts'
import type { DeliveryService } from '../delivery/delivery-service.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { LiveService } from '../live/live-service.ts'
import type { ModelAdmin } from '../models/model-admin.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Tracing } from '../observability/tracing.ts'
import type { Storage } from '../storage/storage.ts'

/** The parts of a running server. Modules import this type to pick the parts that they use. */
export type App = {
  config: Config
  log: Log
  metrics: Metrics
  tracing: Tracing
  storage: Storage
  speech: SpeechEngine
  models: ModelAdmin
  delivery: DeliveryService
  jobs: Jobs
  live: LiveService
  http: FastifyInstance
  close(): Promise<void>
}
