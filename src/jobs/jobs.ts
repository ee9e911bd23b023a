import { join } from 'node:path'
import type { SpeechEngine } from '../asr/speech-engine.ts'
import { decodeMedia } from '../audio/decode-media.ts'
import { probeMedia } from '../audio/probe-media.ts'
import type { Config } from '../config/config.ts'
import { createResolver, type Resolve } from '../net/dns/resolver.ts'
import type { Log } from '../observability/log.ts'
import type { Storage } from '../storage/storage.ts'
import type { Services } from '../text/service-add-ons/service-add-on.ts'
import { JobService } from './job-service.ts'
import { JobWaiters } from './job-waiters.ts'
import type { MediaDeps, PipelineDeps } from './pipeline/pipeline-deps.ts'
import type { SpaceWait } from './queue/attempt.ts'
import type { Observers } from './queue/attempt-metrics.ts'
import { JobRunner } from './queue/job-runner.ts'

/** The dependencies of the recorded-audio service. */
export type JobsOptions = Observers & {
  config: Pick<Config, 'addOnResults' | 'jobs' | 'media' | 'models' | 'network' | 'storage'>
  storage: Pick<Storage, 'db' | 'objects' | 'space'> &
    Partial<Pick<Storage, 'orphans' | 'deletionClock'>>
  speech: SpeechEngine
  resultBuilder: PipelineDeps['resultBuilder']
  services?: Services | undefined
  log: Log
  media?: MediaDeps
  /** For tests: resolves the host name of a source. */
  resolve?: Resolve
  /** Called when something may have been queued for receivers. */
  onEvents?: () => void
  /** Called when a job was deleted. */
  onDeleted?: (jobId: string) => void
  /** Whether this process runs jobs and deletes what has expired; default true. */
  runsJobs?: boolean
  /** Whether a process that runs jobs indexes their transcripts for search; default true. */
  indexesTranscripts?: boolean | undefined
  /** Milliseconds that running jobs may continue after the server begins to stop. */
  graceMs?: number | undefined
  /** How a job waits when there is no disk space. */
  spaceWait?: SpaceWait | undefined
}

/**
 * The recorded-audio service of one process: the operations of clients and, in a worker, the runner
 * of queued jobs.
 */
export class Jobs {
  readonly service: JobService
  /** Undefined in a process that runs no jobs. */
  readonly runner: JobRunner | undefined

  constructor(options: JobsOptions) {
    const { config, storage, speech, resultBuilder, services, runsJobs = true } = options
    const waiters = new JobWaiters({ db: storage.db })
    const onEvents = () => {
      waiters.check()
      options.onEvents?.()
    }
    const { onDeleted } = options
    const log = options.log.child({ module: 'jobs' })
    const deps = {
      db: storage.db,
      space: storage.space,
      speech,
      resultBuilder,
      config,
      log: options.log,
      services,
      workFolder: join(config.storage.folder, 'work'),
      resolve: options.resolve ?? createResolver(),
      media: options.media ?? { probe: probeMedia, decode: decodeMedia },
    }
    this.runner = runsJobs ? new JobRunner({ ...options, onEvents, deps, log }) : undefined
    this.service = new JobService({
      deps,
      runner: this.runner,
      waiters,
      onEvents,
      onDeleted,
    })
  }

  /** Starts to run the queued jobs, including those that an earlier process left unfinished. */
  async start(): Promise<void> {
    await this.runner?.start()
  }

  /** Resolves when no job is waiting or running. */
  async idle(): Promise<void> {
    await this.runner?.idle()
  }

  /**
   * Starts no more jobs, gives running ones a grace period, and returns those still running to the
   * queue. Jobs that are submitted meanwhile wait for the next start.
   */
  async drain(): Promise<void> {
    await this.runner?.drain()
  }

  /** Stops accepting work and drains. */
  async close(): Promise<void> {
    this.service.close()
    await this.runner?.close()
  }
}
