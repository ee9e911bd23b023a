import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { messageOf } from '../../errors.ts'
import type { Word } from '../../transcript/transcript.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import { meanDirection } from '../speakers/clustering/vectors.ts'
import {
  defaultGrid,
  type Region,
  type SpeakerEmbedder,
} from '../speakers/embedding/embedders/embedder.ts'
import { speechRegions } from '../speakers/embedding/regions.ts'
import type { FinalResult, LiveUtterance } from './live-engine.ts'

/**
 * Samples of an utterance that are embedded at most: for two spans of four seconds the model
 * decides correctly for 99.6 % whether they are of one speaker, and it takes some 10 ms per second.
 */
const MAX_EMBEDDED_SAMPLES = 4 * SAMPLE_RATE

/** The speaker embedding of an utterance, sent with its final text. */
export type FinalEmbedding = Pick<FinalResult, 'speakerEmbedding' | 'embeddingError'>

/**
 * Embeds the speaker of an utterance, from the regions of its words; never rejects unless it is
 * aborted.
 */
export type UtteranceEmbedder = (
  utterance: LiveUtterance,
  words: readonly Word[],
  signal: AbortSignal,
) => Promise<FinalEmbedding>

/** Creates an embedder that loads its model with the first request: most sessions request none. */
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
      return await embedUtterance(await load(), regionsOf(utterance, words), {
        ...utterance,
        signal,
      })
    } catch (error) {
      signal.throwIfAborted()
      // The text is ready: it does not wait for an embedding that may never come.
      return { embeddingError: messageOf(error) }
    }
  }
}

/**
 * Returns the regions of the first words of an utterance, `MAX_EMBEDDED_SAMPLES` samples of them.
 */
function regionsOf({ segment, context = segment }: LiveUtterance, words: readonly Word[]) {
  const regions: Region[] = []
  let remainingSamples = MAX_EMBEDDED_SAMPLES
  for (const { start, end } of speechRegions(words, context.end)) {
    if (remainingSamples <= 0) break
    regions.push({ start, end: Math.min(end, start + remainingSamples) })
    remainingSamples -= end - start
  }
  return regions
}

async function embedUtterance(
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
    speakerEmbedding: {
      embedding: meanDirection(embeddings, lengths),
      seconds: speech / SAMPLE_RATE,
    },
  }
}
