import type { Transcript, Word } from '../../transcript/transcript.ts'
import { mapConcurrently } from '../../workers/map-concurrently.ts'
import type { Segment } from '../engines/recognizer.ts'
import type {
  DiarizationTask,
  EngineOptions,
  PcmFile,
  SpeakerTask,
  SpeakerUtterance,
} from '../speech-engine.ts'
import { retryAfterCrash } from '../workers/retry-after-crash.ts'
import type { EmbedTask } from './diarizer.ts'

/** The work of diarization, as the worker processes offer it. */
export type SpeakerWork = {
  workers: number
  /** The id of the speaker model, for use in file names. */
  model: string
  /** Returns the regions of a channel to embed, in groups; depends on words and length only. */
  plan(words: readonly Word[], pcm: PcmFile): Segment[][]
  embed(task: Omit<EmbedTask, 'model'>, signal: AbortSignal): Promise<void>
  findSpeakers(task: SpeakerTask, signal: AbortSignal): Promise<SpeakerUtterance[]>
}

/**
 * Assigns a speaker to each word: embeds the speakers of all channels, with one more group of
 * regions at a time than there are workers, then clusters them. A task whose process crashes is
 * retried once.
 */
export async function diarizeChannels(
  work: SpeakerWork,
  { transcript, channels, counts, checkpointEmbeddings }: DiarizationTask,
  { signal, onProgress }: EngineOptions,
): Promise<SpeakerUtterance[]> {
  const groups = channels.flatMap((pcm) => {
    const planned = work.plan(wordsOfChannel(transcript, pcm.channel), pcm)
    return planned.map((regions, part) => ({ pcm, regions, part }))
  })
  // The distribution of the speakers over several channels is not known before they are clustered.
  const ofChannel = channels.length === 1 ? counts : {}
  let done = 0
  const embedded = await mapConcurrently(
    groups,
    async ({ pcm: { channel, path }, regions, part }, signal) => {
      const embed = (to: string) => {
        return retryAfterCrash(() => work.embed({ path, regions, to, counts: ofChannel }, signal))
      }
      const file = await checkpointEmbeddings({ channel, part, model: work.model }, embed)
      onProgress?.(++done / groups.length)
      return { channel, file }
    },
    { limit: work.workers + 1, signal },
  )
  const embeddings = channels.map(({ channel }) => {
    const groupsOfChannel = embedded.filter((group) => group.channel === channel)
    return { channel, files: groupsOfChannel.map(({ file }) => file) }
  })
  return retryAfterCrash(() => work.findSpeakers({ transcript, embeddings, counts }, signal))
}

function wordsOfChannel({ utterances }: Transcript, channel: number): Word[] {
  return utterances
    .filter((utterance) => utterance.channel === channel)
    .flatMap(({ words }) => words)
}
