import { floorTo } from '../../transcript/rounding.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'

/**
 * Limits the times of a view to the length of the audio in seconds: the last frame is padded with
 * silence for recognition.
 */
export function limitToAudio(view: UtteranceView, seconds: number): UtteranceView {
  if (view.end <= seconds) return view
  const limit = floorTo(seconds, 3)
  const words = view.words.map((word) => {
    return { ...word, start: Math.min(word.start, limit), end: Math.min(word.end, limit) }
  })
  return { ...view, start: Math.min(view.start, limit), end: limit, words }
}

/** `01_00000003`: the fourth utterance of the second channel. */
export function utteranceId({ channel, number }: { channel: number; number: number }): string {
  return `${String(channel).padStart(2, '0')}_${String(number).padStart(8, '0')}`
}
