import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import type { Word } from '../../../transcript/transcript.ts'
import type { Segment } from '../../engines/recognizer.ts'
import { speechRegions } from './regions.ts'
import type { SpeakerModelSpec } from './speaker-model.ts'

/** Ten minutes: a long recording keeps all workers busy, and a restart repeats little. */
const GROUP_SAMPLES = 600 * SAMPLE_RATE

/**
 * Returns the regions to embed, for a channel of `samples` samples: around its words, which ascend,
 * in groups that span ten minutes at most. A pipeline gets all of a channel that has words.
 */
export function planEmbeddings(
  words: readonly Word[],
  samples: number,
  kind: SpeakerModelSpec['kind'],
): Segment[][] {
  if (kind === 'pipeline') return words.length > 0 ? [[{ start: 0, end: samples }]] : []
  const groups: Segment[][] = []
  for (const region of speechRegions(words, samples)) {
    const last = groups.at(-1)
    if (last && region.end - last[0]!.start <= GROUP_SAMPLES) last.push(region)
    else groups.push([region])
  }
  return groups
}
