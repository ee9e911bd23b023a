import { roundTo } from '../../transcript/rounding.ts'
import { separatorOf } from '../../transcript/separators.ts'
import type { Recognized, Word } from '../../transcript/transcript.ts'

/**
 * An utterance as live messages and results show it (contract 4.4): every word begins with its
 * space.
 */
export type UtteranceView = {
  start: number
  end: number
  confidence: number
  channel: number
  /** With diarization; provisional in a final. */
  speaker?: number
  /** Of a speaker that is not provisional, if requested. */
  speaker_confidence?: number
  language: string
  /** How it was recognized, if that is reported. */
  language_confidence?: number
  model?: string
  text: string
  words: { word: string; start: number; end: number; confidence: number }[]
}

/**
 * Builds the view of an utterance from its words; without words, it spans the time in which none
 * were recognized.
 */
export function viewUtterance(
  words: readonly Word[],
  options: {
    channel: number
    language: string
    span: { start: number; end: number }
    speaker?: number | undefined
    recognized?: Omit<Recognized, 'language'> | undefined
  },
): UtteranceView {
  const { channel, language, span, speaker, recognized = {} } = options
  const { languageConfidence, model } = recognized
  const blank = separatorOf(language)
  const written = words.map(({ text, start, end, confidence }) => ({
    word: blank + text,
    start: roundTo(start, 3),
    end: roundTo(end, 3),
    confidence: roundTo(confidence, 3),
  }))
  return {
    start: written[0]?.start ?? roundTo(span.start, 3),
    end: written.at(-1)?.end ?? roundTo(span.end, 3),
    confidence: roundTo(meanConfidence(words), 3),
    channel,
    ...(speaker !== undefined && { speaker }),
    language,
    ...(languageConfidence !== undefined && {
      language_confidence: roundTo(languageConfidence, 3),
    }),
    ...(model !== undefined && { model }),
    text: written.map(({ word }) => word).join(''),
    words: written,
  }
}

/**
 * Trims the end of a view that extends beyond the audio: the last frame is padded with silence for
 * recognition.
 */
export function endedBefore(view: UtteranceView, seconds: number): UtteranceView {
  if (view.end <= seconds) return view
  const limit = roundTo(seconds, 3)
  const words = view.words.map((word) => {
    return { ...word, start: Math.min(word.start, limit), end: Math.min(word.end, limit) }
  })
  return { ...view, start: Math.min(view.start, limit), end: limit, words }
}

function meanConfidence(words: readonly Word[]): number {
  if (words.length === 0) return 0
  return words.reduce((sum, { confidence }) => sum + confidence, 0) / words.length
}

/** `01_00000003`: the fourth utterance of the second channel. */
export function utteranceId({ channel, number }: { channel: number; number: number }): string {
  return `${String(channel).padStart(2, '0')}_${String(number).padStart(8, '0')}`
}
