import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { mapConcurrently } from '../../workers/map-concurrently.ts'
import type { EngineOptions, PcmFile } from '../speech-engine.ts'
import type { TaskRunner } from '../workers/pool.ts'
import { timeoutFor } from '../workers/task-timeouts.ts'
import type { DetectedSpeech } from './split-segments.ts'
import { VAD_FRAME } from './vad-frames.ts'

/** Seconds of processing per second of audio; a fast core needs 0.003. */
const DETECT_TIMEOUT_PER_SECOND = 0.2

/**
 * Returns the speech of a whole recording. Workers process its parts, each `partSeconds` long, in
 * parallel.
 */
export async function detectSpeech(
  pool: TaskRunner,
  { path, samples }: PcmFile,
  { signal, onProgress, partSeconds }: EngineOptions & { partSeconds: number },
): Promise<DetectedSpeech> {
  const partSamples = Math.floor((partSeconds * SAMPLE_RATE) / VAD_FRAME) * VAD_FRAME
  const frames = Math.ceil(samples / VAD_FRAME)
  const probabilities = new Float32Array(frames)
  const noisy = new Uint8Array(frames)
  const starts = Array.from({ length: Math.ceil(samples / partSamples) }, (_, i) => i * partSamples)
  let processedSamples = 0
  const detectPart = async (start: number, signal: AbortSignal) => {
    const end = Math.min(samples, start + partSamples)
    const timeout = timeoutFor([{ start, end }], DETECT_TIMEOUT_PER_SECOND)
    const detectedSpeech = await pool.run(
      { kind: 'detect', path, samples, start, end },
      { signal, timeout },
    )
    probabilities.set(detectedSpeech.probabilities, start / VAD_FRAME)
    noisy.set(detectedSpeech.noisy, start / VAD_FRAME)
    processedSamples += end - start
    onProgress?.(processedSamples / samples)
  }
  await mapConcurrently(starts, detectPart, { limit: starts.length, signal })
  return { probabilities, noisy }
}
