import type { WhisperConfig } from '../whisper-config.ts'

type Heads = WhisperConfig['alignmentHeads']

/**
 * Alignment heads (cross-attention heads that follow the audio), by the layers and the width of the
 * decoder, as published with the models
 * (https://github.com/openai/whisper/blob/main/whisper/__init__.py).
 */
const multilingualHeads: Record<string, Heads> = {
  '4x384': [
    [2, 2],
    [3, 0],
    [3, 2],
    [3, 3],
    [3, 4],
    [3, 5],
  ],
  '6x512': [
    [3, 1],
    [4, 2],
    [4, 3],
    [4, 7],
    [5, 1],
    [5, 2],
    [5, 4],
    [5, 6],
  ],
  '12x768': [
    [5, 3],
    [5, 9],
    [8, 0],
    [8, 4],
    [8, 7],
    [8, 8],
    [9, 0],
    [9, 7],
    [9, 9],
    [10, 5],
  ],
  '24x1024': [
    [13, 15],
    [15, 4],
    [15, 15],
    [16, 1],
    [20, 0],
    [23, 4],
  ],
  '32x1280': [
    [10, 12],
    [13, 17],
    [16, 11],
    [16, 12],
    [16, 13],
    [17, 15],
    [17, 16],
    [18, 4],
    [18, 11],
    [18, 19],
    [19, 11],
    [21, 2],
    [21, 3],
    [22, 3],
    [22, 9],
    [22, 12],
    [23, 5],
    [23, 7],
    [23, 13],
    [25, 5],
    [26, 1],
    [26, 12],
    [27, 15],
  ],
  '4x1280': [
    [2, 4],
    [2, 11],
    [3, 3],
    [3, 6],
    [3, 11],
    [3, 14],
  ],
}
/** large-v3 has more mel bands than its predecessors. */
const largeV3Heads: Heads = [
  [7, 0],
  [10, 17],
  [12, 18],
  [13, 12],
  [16, 1],
  [17, 14],
  [19, 11],
  [21, 4],
  [24, 1],
  [25, 6],
]
const englishHeads: Record<string, Heads> = {
  '4x384': [
    [1, 0],
    [2, 0],
    [2, 5],
    [3, 0],
    [3, 1],
    [3, 2],
    [3, 3],
    [3, 4],
  ],
  '6x512': [
    [3, 3],
    [4, 7],
    [5, 1],
    [5, 5],
    [5, 7],
  ],
  '12x768': [
    [6, 6],
    [7, 0],
    [7, 3],
    [7, 8],
    [8, 2],
    [8, 5],
    [8, 7],
    [9, 0],
    [9, 4],
    [9, 8],
    [9, 10],
    [10, 0],
    [10, 1],
    [10, 2],
    [10, 3],
    [10, 6],
    [10, 11],
    [11, 2],
    [11, 4],
  ],
  '24x1024': [
    [11, 4],
    [14, 1],
    [14, 12],
    [14, 14],
    [15, 4],
    [16, 0],
    [16, 4],
    [16, 9],
    [17, 12],
    [17, 14],
    [18, 7],
    [18, 10],
    [18, 15],
    [20, 0],
    [20, 3],
    [20, 9],
    [20, 14],
    [21, 12],
  ],
}
const LARGE_V3 = { layers: 32, mels: 128 }

/**
 * Returns the published alignment heads of a model of this size; of other sizes all heads in the
 * second half of the decoder's layers, as openai/whisper does.
 */
export function publishedAlignmentHeads({
  decoderLayers,
  hidden,
  heads,
  mels,
  multilingual,
}: Pick<WhisperConfig, 'decoderLayers' | 'hidden' | 'heads' | 'mels' | 'multilingual'>): Heads {
  if (decoderLayers === LARGE_V3.layers && mels === LARGE_V3.mels) return largeV3Heads
  const published = multilingual ? multilingualHeads : englishHeads
  const publishedHeads = published[`${decoderLayers}x${hidden}`]
  if (publishedHeads) return publishedHeads
  const first = Math.floor(decoderLayers / 2)
  return Array.from({ length: decoderLayers - first }, (_, i) => {
    return Array.from({ length: heads }, (_, head): [number, number] => [first + i, head])
  }).flat()
}
