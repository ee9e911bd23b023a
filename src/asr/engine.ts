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
 * A task is given up after this many seconds, plus as many per second of audio: far more than the
 * slowest machine needs, so that only a hung process is killed.
 */
const PATIENCE = 60
const PATIENCE_PER_SECOND = 10

export type SpeechEngineOptions = { folder: string; workers: number; log: Log }

/** Starts the worker processes; their models load in the background. */
export function createSpeechEngine({ folder, workers, log }: SpeechEngineOptions): SpeechEngine {
  const entry = new URL('worker.ts', import.meta.url)
  const pool = new WorkerPool({ entry, args: [folder], workers, log: log.child({ room: 'asr' }) })
  pool.start()
  return {
    languages: ['en'],
    workers,
    planBatches,
    async findSpeech(pcm, options) {
      return cutSegments(await detect(pool, pcm, options), pcm.samples, fileSegments)
    },
    recognize(pcm, batch, { signal, language }) {
      const task = { kind: 'recognize' as const, path: pcm.path, segments: batch, language }
      return pool.run(task, { signal, patience: patienceFor(batch) })
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
  const { signal, onProgress } = options
  const probabilities = new Float32Array(Math.ceil(samples / VAD_FRAME))
  let done = 0
  const parts: Promise<void>[] = []
  for (let start = 0; start < samples; start += DETECT_SAMPLES) {
    const end = Math.min(samples, start + DETECT_SAMPLES)
    const patience = patienceFor([{ start, end }])
    const part = pool.run({ kind: 'detect', path, start, end }, { signal, patience })
    parts.push(
      part.then((found) => {
        probabilities.set(found, start / VAD_FRAME)
        done += end - start
        onProgress?.(done / samples)
      }),
    )
  }
  await Promise.all(parts)
  return probabilities
}

function patienceFor(segments: readonly Segment[]): number {
  const samples = segments.reduce((sum, { start, end }) => sum + end - start, 0)
  return PATIENCE + (PATIENCE_PER_SECOND * samples) / SAMPLE_RATE
}
