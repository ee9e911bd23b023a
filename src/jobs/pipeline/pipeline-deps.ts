import type { SpeechEngine } from '../../asr/speech-engine.ts'
import type { decodeMedia } from '../../audio/decode-media.ts'
import type { probeMedia } from '../../audio/probe-media.ts'
import type { Config } from '../../config/config.ts'
import type { Resolve } from '../../net/dns/resolver.ts'
import type { Log } from '../../observability/log.ts'
import type { DiskSpace } from '../../storage/data-folder/disk-space.ts'
import type { Db } from '../../storage/database/db.ts'
import type { ResultBuilder } from '../../text/result/result-builder.ts'
import type { Services } from '../../text/service-add-ons/service-add-on.ts'
import type { Checkpoints } from './checkpoints/checkpoints.ts'
import type { Progress } from './progress.ts'

/** How recordings are probed and decoded; tests may replace them. */
export type MediaDeps = { probe: typeof probeMedia; decode: typeof decodeMedia }

/** The dependencies of the pipeline. */
export type PipelineDeps = {
  db: Db
  space: DiskSpace
  speech: SpeechEngine
  media: MediaDeps
  /** Resolves the host name of a source. */
  resolve: Resolve
  resultBuilder: Pick<
    ResultBuilder,
    'build' | 'merge' | 'retry' | 'transcript' | 'searchable' | 'edit' | 'describe'
  >
  /** Services over the network for add-ons; undefined when none is configured. */
  services?: Services | undefined
  config: Pick<Config, 'addOnResults' | 'jobs' | 'media' | 'models' | 'network' | 'storage'>
  log: Log
  /** The folder of the jobs' checkpoints. */
  workFolder: string
}

/** What all stages of an attempt share. */
export type Step = { checkpoints: Checkpoints; progress: Progress; signal: AbortSignal }
