import type { WhisperNetwork } from '../../../../src/asr/engines/whisper/network.ts'
import type { WhisperConfig } from '../../../../src/asr/engines/whisper/whisper-config.ts'

/** Ids 0 to 10 are text; English is 12, German 13. */
export const tokens = {
  end: 11,
  start: 14,
  translate: 15,
  transcribe: 16,
  startOfPrevious: 17,
  noSpeech: 18,
  noTimestamps: 19,
  firstTimestamp: 20,
}

/** Alignment heads of the stand-in. */
const HEADS = 2
const VOCABULARY = 22

const config: WhisperConfig = {
  version: 1,
  weights: 'fp32',
  hidden: 4,
  heads: 1,
  encoderLayers: 1,
  decoderLayers: 1,
  mels: 80,
  audioPositions: 1500,
  textPositions: 448,
  vocabulary: VOCABULARY,
  alignmentHeads: [
    [0, 0],
    [0, 1],
  ],
  multilingual: true,
  languages: { en: 12, de: 13 },
  tokens,
  suppressed: [0],
  suppressedAtBegin: [10, tokens.end],
}

/**
 * A network that writes a given text for each segment, and records the tokens that it reads.
 * `certainty` is how far the logit of the next token is above the others; `firstLogits` are logits
 * before any text.
 */
export function standInNetwork(
  texts: readonly (readonly number[])[],
  {
    certainty = 10,
    firstLogits = {},
  }: { certainty?: number; firstLogits?: Record<number, number> } = {},
): { network: WhisperNetwork; fed: number[][] } {
  const fed: number[][] = []
  const network: WhisperNetwork = {
    config,
    encode: async (features) => ({ frames: features.map(({ frames }) => frames / 2) }),
    decoder(audio, items) {
      const frames = Math.max(...audio.frames)
      let rows = items.map((item) => ({ item, read: [] as number[] }))
      return {
        async step(next, { attention = false, lastOnly = false } = {}) {
          fed.push([...next[0]!])
          const count = next[0]!.length
          const logits: number[] = []
          for (const [i, row] of rows.entries()) {
            for (const [at, token] of next[i]!.entries()) {
              row.read.push(token)
              if (!lastOnly || at + 1 === count) logits.push(...logitsAfter(row, certainty))
            }
          }
          return {
            logits: Float32Array.from(logits),
            tokens: lastOnly ? 1 : count,
            ...(attention
              ? { attention: new Float32Array(rows.length * HEADS * count * frames).fill(0.1) }
              : {}),
            frames,
          }
        },
        keep(kept) {
          rows = kept.map((i) => ({ item: rows[i]!.item, read: [...rows[i]!.read] }))
        },
        close() {},
      }
    },
    async close() {},
  }
  return { network, fed }

  function logitsAfter({ item, read }: { item: number; read: number[] }, above: number): number[] {
    const from = read.lastIndexOf(tokens.noTimestamps)
    const written = from < 0 ? [] : read.slice(from + 1)
    const next = from < 0 ? undefined : (texts[item]![written.length] ?? tokens.end)
    return Array.from({ length: VOCABULARY }, (_, id) => {
      if (from < 0) return firstLogits[id] ?? 0
      return id === next ? above : 0
    })
  }
}
