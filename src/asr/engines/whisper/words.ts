import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import type { Word } from '../../../transcript/transcript.ts'
import {
  alignByAttention,
  mostAttendedFrame,
} from '../../recognition/word-times/attention-alignment.ts'
import { MIN_WORD_SECONDS } from '../../recognition/word-times/implausible-words.ts'
import { placeBoundaries } from '../../recognition/word-times/place-boundaries.ts'
import { alignToEnergy, energyLevels } from '../../recognition/word-times/refine-word-times.ts'
import { wordConfidence } from './decoding/confidence.ts'
import { meanLogProbability, type WhisperDecoding } from './decoding/decode.ts'
import type { TokenRange, WhisperTokenizer } from './tokenizer.ts'

/** Seconds of audio per encoder frame. */
const FRAME_SECONDS = 0.02
/** Attention reaches a word about 40 ms before it starts, measured with Whisper base. */
const ATTENTION_DELAY = -0.04
/** The width of the median filter over attention (openai/whisper `timing.py`). */
const MEDIAN_FRAMES = 7

/** A decoded text and the audio from which its words are timed. */
export type WhisperText = {
  decoding: WhisperDecoding
  language: string
  audio: Float32Array
  /** Attention heads that follow the audio. */
  heads: number
}

/**
 * Returns the words of a text: times from the attention of the tokens, refined by the energy of the
 * audio. Words ascend, do not overlap, stay in the audio and last 40 ms where there is room.
 */
export function timedWords(tokenizer: WhisperTokenizer, text: WhisperText): Word[] {
  const { decoding, language, audio, heads } = text
  if (decoding.tokens.length === 0) return []
  const frames = alignByAttention(decoding.attention, {
    heads,
    frames: decoding.frames,
    medianFrames: MEDIAN_FRAMES,
  })
  const rough = wordSpans(tokenizer, text, frames)
  const aligned = alignToEnergy(rough, energyLevels(audio), {
    delay: ATTENTION_DELAY,
    seconds: audio.length / SAMPLE_RATE,
  })
  // The network was trained with English.
  const spans = language === 'en' ? placeBoundaries(aligned, audio) : aligned
  return withConfidence(rough, decoding).map((word, i) => {
    const { start, end } = spans[i]!
    return { ...word, start, end }
  })
}

/**
 * Returns words with rough times: the frame that each token attends to most. Cheaper than
 * `timedWords`, and accurate to a syllable.
 */
export function approximateWords(
  tokenizer: WhisperTokenizer,
  text: WhisperText,
): (Word & { tokens: { first: number; last: number } })[] {
  const { decoding, heads } = text
  let latest = 0
  const frames = decoding.attention.map((row) => {
    latest = Math.max(latest, mostAttendedFrame(row, heads, decoding.frames))
    return latest
  })
  const rough = wordSpans(tokenizer, text, frames)
  return withConfidence(rough, decoding).map((word, i) => {
    const { first, last, start, end } = rough[i]!
    return { ...word, start, end, tokens: { first, last } }
  })
}

type TimedTokens = TokenRange & { start: number; end: number }

/** `frames` holds the first frame of each token, and of the end token where there is one. */
function wordSpans(
  tokenizer: WhisperTokenizer,
  { decoding, language, audio }: WhisperText,
  frames: readonly number[],
): TimedTokens[] {
  const seconds = audio.length / SAMPLE_RATE
  const at = (token: number) =>
    Math.min((frames[token] ?? Number.POSITIVE_INFINITY) * FRAME_SECONDS, seconds)
  const words: TimedTokens[] = []
  for (const range of tokenizer.wordsOf(decoding.tokens, language)) {
    const text = range.text.trim()
    const previous = words.at(-1)
    if (/[\p{L}\p{N}]/u.test(text)) {
      const end = at(endOfSpoken(tokenizer, decoding.tokens, range))
      const start = Math.min(at(range.first), Math.max(0, seconds - MIN_WORD_SECONDS))
      words.push({ ...range, text, start, end: Math.max(start, end) })
    } else if (previous && text !== '') previous.text += text
  }
  return words
}

/** Returns the token after the last letter or digit: a pause after a comma belongs to no word. */
function endOfSpoken(
  tokenizer: WhisperTokenizer,
  tokens: readonly number[],
  { first, last }: TokenRange,
): number {
  let end = last + 1
  while (end - 1 > first && /^[\p{P}\p{S}\s]+$/u.test(tokenizer.textOf([tokens[end - 1]!]))) end--
  return end
}

function withConfidence(
  words: readonly TimedTokens[],
  decoding: WhisperDecoding,
): Omit<Word, 'start' | 'end'>[] {
  const segment = meanLogProbability(decoding)
  return words.map(({ text, first, last }) => {
    return { text, confidence: wordConfidence(decoding.logProbs.slice(first, last + 1), segment) }
  })
}
