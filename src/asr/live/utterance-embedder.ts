import type { Word } from '../../transcript/transcript.ts'
import type { Final, LiveUtterance } from '../live-recognizer.ts'
import { readSamples } from '../pcm.ts'
import { meanVector } from '../speakers/clustering/vectors.ts'
import { defaultGrid, type Region, type SpeakerEmbedder } from '../speakers/embedding/embedder.ts'
import { speechRegions } from '../speakers/embedding/regions.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'

/**
 * So much of an utterance is listened to, in samples: of two stretches of four seconds the model says for 99.6 % whether
 * they are of one voice, and it takes some 10 ms for each second.
 */
const MOST = 4 * SAMPLE_RATE

/** What is known of the voice of an utterance, to be told with its final text. */
export type FinalEmbedding = Pick<Final, 'voice' | 'speakerError'>

/** Hears what the voice in an utterance sounds like, where its words are; never rejects unless it is aborted. */
export type UtteranceEmbedder = (
  utterance: LiveUtterance,
  words: readonly Word[],
  signal: AbortSignal,
) => Promise<FinalEmbedding>

/** The model is loaded with the first voice that is asked for: most sessions ask for none. */
export function createUtteranceEmbedder(open: () => Promise<SpeakerEmbedder>): UtteranceEmbedder {
  let opened: Promise<SpeakerEmbedder> | undefined

  async function load(): Promise<SpeakerEmbedder> {
    opened ??= open()
    return opened.catch((error) => {
      opened = undefined
      throw error
    })
  }

  return async (utterance, words, signal) => {
    try {
      return await hearVoice(await load(), regionsOf(utterance, words), { ...utterance, signal })
    } catch (error) {
      signal.throwIfAborted()
      // The text is there: it does not wait for what may never be known.
      return { speakerError: error instanceof Error ? error.message : String(error) }
    }
  }
}

/** Where the first words of an utterance are, `MOST` samples of them. */
function regionsOf({ segment, context = segment }: LiveUtterance, words: readonly Word[]) {
  const regions: Region[] = []
  let left = MOST
  for (const { start, end } of speechRegions(words, context.end)) {
    if (left <= 0) break
    regions.push({ start, end: Math.min(end, start + left) })
    left -= end - start
  }
  return regions
}

async function hearVoice(
  embedder: SpeakerEmbedder,
  regions: readonly Region[],
  { path, signal }: { path: string; signal: AbortSignal },
): Promise<FinalEmbedding> {
  const [first, last] = [regions[0], regions.at(-1)]
  if (!first || !last) return {}
  const samples = readSamples(path, first.start, last.end)
  const inside = regions.map(({ start, end }) => {
    return { start: start - first.start, end: end - first.start }
  })
  const windows = await embedder.embed(samples, inside, { signal, grids: [defaultGrid] })
  if (windows.length === 0) return {}
  const embeddings = windows.map(({ embedding }) => embedding)
  const lengths = windows.map(({ start, end }) => end - start)
  const speech = regions.reduce((sum, { start, end }) => sum + end - start, 0)
  return {
    voice: { embedding: meanVector(embeddings, lengths), seconds: speech / SAMPLE_RATE },
  }
}
