import { sum } from '../../numbers.ts'
import { mapConcurrently } from '../../workers/map-concurrently.ts'
import type { RecognitionSettings, Segment } from '../engines/recognizer.ts'
import type { Batch, ChannelPcm, CheckpointSpeech, EngineOptions } from '../speech-engine.ts'
import { planBatches } from './batches.ts'

/** How to detect speech and checkpoint it, and the limit of concurrent channels. */
export type PlanOptions = EngineOptions & {
  findSpeech(pcm: ChannelPcm, options: EngineOptions): Promise<Segment[]>
  /** Longest segment that the recognizer takes, in seconds. */
  maxSeconds: number
  checkpointSpeech?: CheckpointSpeech
  limit: number
}

/** Finds the speech of all channels and groups it into batches, channel by channel. */
export async function planRecognition(
  channels: readonly ChannelPcm[],
  settings: RecognitionSettings,
  { findSpeech, maxSeconds, limit, signal, onProgress, ...options }: PlanOptions,
): Promise<Batch[]> {
  const { checkpointSpeech = (_, find) => find() } = options
  const fractions = channels.map(() => 0)
  const segments = await mapConcurrently(
    [...channels.entries()],
    ([i, pcm], signal) => {
      const onChannelProgress = (fraction: number) => {
        fractions[i] = fraction
        onProgress?.(sum(fractions) / channels.length)
      }
      const find = () => findSpeech(pcm, { signal, onProgress: onChannelProgress })
      return checkpointSpeech({ channel: pcm.channel, maxSeconds }, find)
    },
    { limit, signal },
  )
  return channels.flatMap(({ channel, path }, i) => {
    return planBatches(segments[i]!).map((batch) => ({
      channel,
      path,
      segments: batch,
      ...settings,
    }))
  })
}
