import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { ARRANGE_TIMEOUT_PER_SECOND } from './channels/arrange-channels.ts'
import { embeddedRecognizers } from './engines/embedded-recognizers.ts'
import { inParallel } from './in-parallel.ts'
import { createLiveRecognizer } from './live/worker-client.ts'
import { planRecognition } from './plan-recognition.ts'
import {
  type AvailableRecognizers,
  capabilitiesOf,
  languagesOf,
  routeRecognition,
} from './routing.ts'
import { cutSegments, type DetectedSpeech, fileSegments } from './segments.ts'
import { diarizeChannels, type SpeakerWork } from './speakers/diarize-channels.ts'
import { createEmbeddingWorkers } from './speakers/embedding/embedding-workers.ts'
import { planEmbeddings } from './speakers/embedding/plan-embeddings.ts'
import { chooseSpeakerModel } from './speakers/embedding/speaker-model.ts'
import {
  type EngineOptions,
  type PcmFile,
  SAMPLE_RATE,
  type SpeechEngine,
} from './speech-engine.ts'
import { VAD_FRAME } from './vad-frames.ts'
import { WorkerPool } from './workers/pool.ts'
import type { WorkerRole } from './workers/protocol.ts'
import { speakersTimeoutFor, TASK_TIMEOUT_S, timeoutFor } from './workers/task-timeouts.ts'

/** Seconds of one detection task: ten minutes, so that a long recording keeps all workers busy. */
const DETECT_SECONDS = 600
/**
 * Timeout in seconds per second of audio. A fast core needs 0.04 to recognize and 0.003 to detect
 * speech.
 */
const RECOGNIZE_TIMEOUT_PER_SECOND = 2
const DETECT_TIMEOUT_PER_SECOND = 0.2

/**
 * Once a live session exists, batches get what it leaves: a tenth of a core that both want. Not
 * before, since their processes would also yield to everything else on the machine.
 */
const BATCH_NICENESS = 10

/** The folder that holds the models, and how many processes load them. */
export type SpeechEngineOptions = {
  folder: string
  workers: number
  /** How many of them start at once, and the others when work waits; default: all. */
  workersAtStart?: number
  log: Log
  metrics?: Pick<Metrics, 'workerRestarts'>
  /** Also creates processes for live sessions; seconds between two partials of an utterance. */
  live?: { partialInterval: number }
  /** What the worker processes load, and the module that they run; for tests. */
  recognizers?: AvailableRecognizers
  entry?: URL
  /** Seconds of one detection task; for tests. */
  detectSeconds?: number
}

/** Returns the options that follow from the settings. */
export function engineOptions({
  models,
  workers,
  live,
}: Pick<Config, 'models' | 'workers' | 'live'>): Omit<SpeechEngineOptions, 'log'> {
  const partialInterval = live.partialIntervalMs / 1000
  return { folder: models.folder, workers, ...(live.slots !== 0 && { live: { partialInterval } }) }
}

/** Starts worker processes; their models load in the background. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const { folder, workers, metrics, recognizers = embeddedRecognizers } = options
  const { detectSeconds = DETECT_SECONDS } = options
  const log = options.log.child({ module: 'asr' })
  const { entry = new URL('workers/worker.ts', import.meta.url) } = options
  const start = (role: WorkerRole, count: number) => {
    const onLost = () => metrics?.workerRestarts.inc({ role })
    const atStart = role === 'batch' ? options.workersAtStart : undefined
    const args = [folder, role]
    const pool = new WorkerPool({ entry, args, workers: count, atStart, log, onLost })
    pool.start()
    return pool
  }
  const pool = start('batch', workers)
  const speakerModel = chooseSpeakerModel(folder)
  if (speakerModel.kind === 'unusable')
    log.error({ problem: speakerModel.problem }, 'no speaker model')
  const embeddingWorkers = createEmbeddingWorkers({
    model: speakerModel,
    pool,
    start: () => start('diarization', 1),
  })
  const speakers: SpeakerWork = {
    workers,
    model: speakerModel.id,
    plan: (words, { samples }) => planEmbeddings(words, samples, speakerModel.kind),
    embed: (task, signal) => embeddingWorkers.embed({ ...task, model: speakerModel }, signal),
    findSpeakers(task, signal) {
      const timeout = speakersTimeoutFor(task.transcript)
      return pool.run({ kind: 'speakers', ...task }, { signal, timeout })
    },
  }
  const live =
    options.live &&
    createLiveRecognizer({
      ...options.live,
      start,
      workers,
      log,
      onUsed() {
        pool.yieldTo(BATCH_NICENESS)
        embeddingWorkers.yieldTo(BATCH_NICENESS)
      },
    })
  return {
    languages: languagesOf(recognizers),
    route: (request) => routeRecognition(request, recognizers),
    workers,
    live,
    arrangeChannels(task, { signal }) {
      const spans = task.channels.map(({ samples }) => ({ start: 0, end: samples }))
      const timeout = timeoutFor(spans, ARRANGE_TIMEOUT_PER_SECOND)
      return pool.run({ kind: 'arrange', ...task }, { signal, timeout })
    },
    planRecognition(channels, settings, options) {
      const { maxSeconds } = capabilitiesOf(settings.model, recognizers)
      const findSpeech = async (pcm: PcmFile, detecting: EngineOptions) => {
        const speech = await detect(pool, pcm, { ...detecting, seconds: detectSeconds })
        return cutSegments(speech, pcm.samples, { ...fileSegments, maxSeconds })
      }
      const planning = { ...options, findSpeech, maxSeconds, limit: workers + 1 }
      return planRecognition(channels, settings, planning)
    },
    runBatch(batch, { signal }) {
      const timeout = timeoutFor(batch.segments, RECOGNIZE_TIMEOUT_PER_SECOND)
      return pool.run({ kind: 'recognize', ...batch }, { signal, timeout })
    },
    diarize: (task, options) => diarizeChannels(speakers, task, options),
    async checkReady({ signal }) {
      // A probe runs before batch work: it checks that recognition works, not how long the queue
      // is.
      const how = { signal, timeout: TASK_TIMEOUT_S, priority: -1 }
      await Promise.all([pool.run({ kind: 'check' }, how), live?.checkReady(how)])
    },
    async close() {
      await Promise.all([pool.close(), embeddingWorkers.close(), live?.close()])
    },
  }
}

/** Returns the speech of a whole recording; its parts are processed in parallel. */
async function detect(
  pool: WorkerPool,
  { path, samples }: PcmFile,
  { signal, onProgress, seconds }: EngineOptions & { seconds: number },
): Promise<DetectedSpeech> {
  const step = Math.floor((seconds * SAMPLE_RATE) / VAD_FRAME) * VAD_FRAME
  const frames = Math.ceil(samples / VAD_FRAME)
  const probabilities = new Float32Array(frames)
  const noisy = new Uint8Array(frames)
  const starts = Array.from({ length: Math.ceil(samples / step) }, (_, i) => i * step)
  let done = 0
  const detectPart = async (start: number, signal: AbortSignal) => {
    const end = Math.min(samples, start + step)
    const timeout = timeoutFor([{ start, end }], DETECT_TIMEOUT_PER_SECOND)
    const found = await pool.run({ kind: 'detect', path, samples, start, end }, { signal, timeout })
    probabilities.set(found.probabilities, start / VAD_FRAME)
    noisy.set(found.noisy, start / VAD_FRAME)
    done += end - start
    onProgress?.(done / samples)
  }
  await inParallel(starts, detectPart, { limit: starts.length, signal })
  return { probabilities, noisy }
}
