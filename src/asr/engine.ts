import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
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
import { VAD_FRAME } from './vad.ts'
import { WorkerPool } from './workers/pool.ts'
import type { WorkerRole } from './workers/protocol.ts'
import { speakersTimeoutFor, TASK_TIMEOUT_S, timeoutFor } from './workers/task-timeouts.ts'

/** Samples of one detection task: ten minutes, so that a long recording keeps all workers busy. */
const DETECT_SAMPLES = Math.floor((600 * SAMPLE_RATE) / VAD_FRAME) * VAD_FRAME
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
  log: Log
  metrics?: Pick<Metrics, 'workerRestarts'>
  /** Also creates processes for live sessions; seconds between two partials of an utterance. */
  live?: { partialInterval: number }
  /** What the worker processes load, and the module that they run; for tests. */
  recognizers?: AvailableRecognizers
  entry?: URL
}

/** Starts the worker processes; their models load in the background. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const { folder, workers, metrics, recognizers = embeddedRecognizers } = options
  const log = options.log.child({ module: 'asr' })
  const { entry = new URL('workers/worker.ts', import.meta.url) } = options
  const start = (role: WorkerRole, count: number) => {
    const onLost = () => metrics?.workerRestarts.inc({ role })
    const pool = new WorkerPool({ entry, args: [folder, role], workers: count, log, onLost })
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
    planRecognition(channels, settings, options) {
      const { maxSeconds } = capabilitiesOf(settings.model, recognizers)
      const findSpeech = async (pcm: PcmFile, detecting: EngineOptions) => {
        const speech = await detect(pool, pcm, detecting)
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
  { signal, onProgress }: EngineOptions,
): Promise<DetectedSpeech> {
  const frames = Math.ceil(samples / VAD_FRAME)
  const probabilities = new Float32Array(frames)
  const noisy = new Uint8Array(frames)
  const starts = Array.from(
    { length: Math.ceil(samples / DETECT_SAMPLES) },
    (_, i) => i * DETECT_SAMPLES,
  )
  let done = 0
  const detectPart = async (start: number, signal: AbortSignal) => {
    const end = Math.min(samples, start + DETECT_SAMPLES)
    const timeout = timeoutFor([{ start, end }], DETECT_TIMEOUT_PER_SECOND)
    const found = await pool.run({ kind: 'detect', path, start, end, samples }, { signal, timeout })
    probabilities.set(found.probabilities, start / VAD_FRAME)
    noisy.set(found.noisy, start / VAD_FRAME)
    done += end - start
    onProgress?.(done / samples)
  }
  await inParallel(starts, detectPart, { limit: starts.length, signal })
  return { probabilities, noisy }
}
