import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import type { Word } from '../../../transcript/transcript.ts'
import type { Region, WindowGrid } from './embedders/embedder.ts'

/** Words closer than this share a region, in seconds: at a longer pause the speaker may change. */
const PAUSE = 0.3
/** Audio before and after the words that still belongs to them, in seconds. */
const PAD = 0.06

/**
 * Windows for diarization: short enough to find a turn, long enough to identify a speaker; 1.2 s
 * every 0.3 s.
 */
export const diarizationGrid: WindowGrid = { length: 19_200, hop: 4800 }

/**
 * Returns the regions to embed: around the words of one channel, so that music and noise do not
 * become speakers. Regions ascend, lie in the `samples` of the recording, and do not overlap; words
 * ascend.
 */
export function speechRegions(words: readonly Word[], samples: number): Region[] {
  const regions: Region[] = []
  for (const word of words) {
    const start = Math.max(0, Math.round((word.start - PAD) * SAMPLE_RATE))
    const end = Math.min(samples, Math.round((word.end + PAD) * SAMPLE_RATE))
    const last = regions.at(-1)
    if (last && start - last.end < (PAUSE - 2 * PAD) * SAMPLE_RATE)
      last.end = Math.max(last.end, end)
    else if (start < end) regions.push({ start, end })
  }
  return regions
}
