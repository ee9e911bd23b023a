import { roundTo } from './rounding.ts'
import { separatorOf } from './separators.ts'
import type { Utterance, Word } from './transcript.ts'

/** An utterance as live messages and results show it. */
export type UtteranceView = {
  start: number
  end: number
  confidence: number
  channel: number
  /** Present with diarization; provisional in a final. */
  speaker?: number
  /** The confidence in the speaker, if it is requested and the speaker is not provisional. */
  speaker_confidence?: number
  language: string
  /** The confidence in the language and, below, the model; present where they are reported. */
  language_confidence?: number
  model?: string
  text: string
  words: { word: string; start: number; end: number; confidence: number }[]
}

/** An utterance whose words are not changed. */
type ViewedUtterance = Omit<Utterance, 'words'> & { words: readonly Word[] }

/** Builds the view of an utterance of a result. It needs at least one word. */
export function viewUtterance(utterance: ViewedUtterance): UtteranceView {
  const { span, words, text, recognized } = viewParts(utterance, '')
  return { ...span!, ...confidenceOf(utterance), words, text, ...recognized }
}

/**
 * Builds the view of an utterance of a session, in which every word begins with its space; without
 * words, it spans the seconds in which none were recognized.
 */
export function viewLiveUtterance(
  utterance: ViewedUtterance,
  silence: { start: number; end: number },
): UtteranceView {
  const space = separatorOf(utterance.language)
  const { span, words, text, recognized } = viewParts(utterance, space)
  const { start, end } = silence
  const none = { start: roundTo(start, 3), end: roundTo(end, 3) }
  return { ...(span ?? none), ...confidenceOf(utterance), ...recognized, text, words }
}

/** Views the words, the first after `before`, and what was recognized. */
function viewParts(utterance: ViewedUtterance, before: string) {
  const { language, languageConfidence, model } = utterance
  const space = separatorOf(language)
  const words = utterance.words.map((word, i) => viewWord(word, i === 0 ? before : space))
  const [first, last] = [words[0], words.at(-1)]
  return {
    span: first && last && { start: first.start, end: last.end },
    words,
    text: words.map(({ word }) => word).join(''),
    recognized: {
      language,
      ...(languageConfidence !== undefined && {
        language_confidence: roundTo(languageConfidence, 3),
      }),
      ...(model !== undefined && { model }),
    },
  }
}

function confidenceOf({ channel, speaker, speakerConfidence, words }: ViewedUtterance) {
  return {
    confidence: confidenceOfWords(words),
    channel,
    ...(speaker !== undefined && { speaker }),
    ...(speakerConfidence !== undefined && { speaker_confidence: roundTo(speakerConfidence, 3) }),
  }
}

function viewWord({ text, start, end, confidence }: Word, before: string) {
  return {
    word: before + text,
    start: roundTo(start, 3),
    end: roundTo(end, 3),
    confidence: roundTo(confidence, 3),
  }
}

/**
 * Returns the confidence of an utterance: the mean of those of its words as they are shown, so that
 * a client that averages them gets the same value. 0 without words.
 */
export function confidenceOfWords(words: readonly Pick<Word, 'confidence'>[]): number {
  if (words.length === 0) return 0
  const sum = words.reduce((total, { confidence }) => total + roundTo(confidence, 3), 0)
  return roundTo(sum / words.length, 3)
}
