import type { Log } from '../log.ts'
import { planBatches } from './batches.ts'
import { WorkerPool } from './pool.ts'
import { cutSegments, fileSegments } from './segments.ts'
import type { EngineOptions, PcmFile, Segment, SpeechEngine } from './speech-engine.ts'
import { SAMPLE_RATE } from './speech-engine.ts'
import { VAD_FRAME } from './vad.ts'

/** Samples of one detection task: ten minutes, so that a long recording keeps all workers busy. */
const DETECT_SAMPLES = Math.floor((600 * SAMPLE_RATE) / VAD_FRAME) * VAD_FRAME
/**
 * A task is given up after this many seconds, plus so many per second of audio: far more than a slow
 * machine needs (0.04 to recognise, 0.003 to find speech on a fast core), so that only a hung process
 * is killed.
 */
const PATIENCE = 60
const RECOGNISE_PATIENCE_PER_SECOND = 2
const DETECT_PATIENCE_PER_SECOND = 0.2

/** Where the models lie, and how many processes load them. */
export type SpeechEngineOptions = { folder: string; workers: number; log: Log }

/** Starts the worker processes; their models load in the background. */
export function createSpeechEngine({ folder, workers, log }: SpeechEngineOptions): SpeechEngine {
  const entry = new URL('worker.ts', import.meta.url)
  const pool = new WorkerPool({ entry, args: [folder], workers, log: log.child({ room: 'asr' }) })
  pool.start()
  return {
    languages: ['en'],
    workers,
    live: undefined,
    planBatches,
    async findSpeech(pcm, options) {
      return cutSegments(await detect(pool, pcm, options), pcm.samples, fileSegments)
    },
    recognize(pcm, batch, { signal, language }) {
      const task = { kind: 'recognize' as const, path: pcm.path, segments: batch, language }
      return pool.run(task, { signal, patience: patienceFor(batch, RECOGNISE_PATIENCE_PER_SECOND) })
    },
    async checkReady({ signal }) {
      // A probe goes before batch work: it asks whether anything can be heard, not how long the queue is.
      await pool.run({ kind: 'check' }, { signal, patience: PATIENCE, priority: -1 })
    },
    close: () => pool.close(),
  }
}

/** Speech probabilities of a whole recording; its parts are heard side by side. */
async function detect(
  pool: WorkerPool,
  { path, samples }: PcmFile,
  options: EngineOptions,
): Promise<Float32Array> {
  const { onProgress } = options
  const failed = new AbortController()
  const signal = AbortSignal.any([options.signal, failed.signal])
  const probabilities = new Float32Array(Math.ceil(samples / VAD_FRAME))
  let done = 0
  const parts: Promise<void>[] = []
  for (let start = 0; start < samples; start += DETECT_SAMPLES) {
    const end = Math.min(samples, start + DETECT_SAMPLES)
    const patience = patienceFor([{ start, end }], DETECT_PATIENCE_PER_SECOND)
    const part = pool.run({ kind: 'detect', path, start, end }, { signal, patience })
    parts.push(
      part.then((found) => {
        probabilities.set(found, start / VAD_FRAME)
        done += end - start
        onProgress?.(done / samples)
      }),
    )
  }
  try {
    await Promise.all(parts)
  } catch (error) {
    failed.abort(error) // The other parts are of no use any more.
    await Promise.allSettled(parts)
    throw error
  }
  return probabilities
}

function patienceFor(segments: readonly Segment[], perSecond: number): number {
  const samples = segments.reduce((sum, { start, end }) => sum + end - start, 0)
  return PATIENCE + (perSecond * samples) / SAMPLE_RATE
}
