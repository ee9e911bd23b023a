import type { Word } from '../../../transcript/transcript.ts'
import { groupLetters, SPOKEN } from '../../recognition/word-times/group-letters.ts'
import type { SherpaText } from './sherpa-protocol.ts'

/** A word, and the last of its tokens. */
export type SherpaWord = Word & { lastToken: number }

/** A byte of a character that is no token of its own. */
const BYTE = /^<0x([0-9A-F]{2})>$/

/** A character with the token that wrote it. */
type Letter = { letter: string; token: number }

/**
 * Joins tokens into words. Spaces separate words; in a script without spaces, each character is a
 * word. Punctuation joins the word before it. A word lasts from its first token to the end of the
 * last; where the model gives no durations, a token lasts the median distance between the tokens of
 * a word, but not into the next token. `seconds` is the length of the audio. The confidence is the
 * mean probability of the tokens, and 0 where the model gives none.
 */
export function wordsFromSherpaText(
  decoded: Pick<SherpaText, 'text' | 'tokens' | 'times' | 'durations' | 'logProbs'>,
  seconds: number,
): SherpaWord[] {
  const letters = timedLetters(decoded)
  const groups = groupLetters(letters)
  const ends = tokenEnds(decoded, groups, seconds)
  const words: SherpaWord[] = []
  for (const wordLetters of groups) {
    const text = wordLetters.map(({ letter }) => letter).join('')
    const spoken = wordLetters.filter(({ letter }) => SPOKEN.test(letter))
    const previous = words.at(-1)
    const lastToken = wordLetters.at(-1)!.token
    if (spoken.length > 0) {
      const [first, last] = [spoken[0]!.token, spoken.at(-1)!.token]
      const start = Math.min(Math.max(decoded.times[first] ?? 0, previous?.start ?? 0), seconds)
      const end = Math.max(start, ends[last]!)
      if (previous) previous.end = Math.max(previous.start, Math.min(previous.end, start))
      const confidence = meanProbability(decoded.logProbs, spoken)
      words.push({ text, start, end, confidence, lastToken })
    } else if (previous) {
      previous.text += text
      previous.lastToken = lastToken
    }
  }
  return words
}

/**
 * Spreads the words of a text without times over the audio, by their lengths. Their confidence is
 * 0, since it is not known either.
 */
export function interpolateWordTimes(text: string, seconds: number): SherpaWord[] {
  const letters = [...text.normalize('NFC')].map((letter) => ({ letter, token: 0 }))
  const groups = groupLetters(letters).map((wordLetters) =>
    wordLetters.map(({ letter }) => letter).join(''),
  )
  const total = groups.reduce((sum, group) => sum + group.length, 0)
  const words: SherpaWord[] = []
  let done = 0
  for (const [lastToken, group] of groups.entries()) {
    const start = (done / total) * seconds
    done += group.length
    const end = (done / total) * seconds
    const previous = words.at(-1)
    if (SPOKEN.test(group)) words.push({ text: group, start, end, confidence: 0, lastToken })
    else if (previous) Object.assign(previous, { text: previous.text + group, end, lastToken })
  }
  return words
}

/** Returns the characters of the text, each with its token. */
function timedLetters({ text, tokens }: Pick<SherpaText, 'text' | 'tokens'>): Letter[] {
  const letters: Letter[] = []
  let bytes: number[] = []
  for (const [token, piece] of tokens.entries()) {
    const byte = BYTE.exec(piece)?.[1]
    if (byte !== undefined) {
      bytes.push(Number.parseInt(byte, 16))
      const letter = Buffer.from(bytes).toString('utf8')
      if (letter.includes('\uFFFD') && bytes.length < 4) continue
      letters.push({ letter, token: token - bytes.length + 1 })
      bytes = []
      continue
    }
    bytes = []
    for (const letter of piece.replaceAll('\u2581', ' ')) letters.push({ letter, token })
  }
  const written = letters.map(({ letter }) => letter).join('')
  if (withoutSpaces(written) === withoutSpaces(text)) return letters
  // The tokens are bytes that only the library can decode: the text is spread over the tokens.
  const all = [...text]
  return all.map((letter, i) => {
    return { letter, token: Math.floor((i * tokens.length) / all.length) }
  })
}

function withoutSpaces(text: string): string {
  return text.replace(/\s/g, '')
}

/** Returns when each token ends, in seconds. */
function tokenEnds(
  { times, durations, tokens }: Pick<SherpaText, 'times' | 'durations' | 'tokens'>,
  groups: readonly (readonly Letter[])[],
  seconds: number,
): number[] {
  const gaps = groups.flatMap((wordLetters) => {
    return wordLetters.slice(1).flatMap(({ token }, i) => {
      const from = wordLetters[i]!.token
      return token > from ? [(times[token] ?? 0) - (times[from] ?? 0)] : []
    })
  })
  const starts = tokens.slice(1).map((_, i) => (times[i + 1] ?? 0) - (times[i] ?? 0))
  const medianGap = median(gaps.length > 0 ? gaps : starts)
  return tokens.map((_, i) => {
    const start = times[i] ?? 0
    const next = times[i + 1] ?? seconds
    const duration = durations[i] ?? medianGap
    return Math.min(start + duration, Math.max(next, start), seconds)
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

function meanProbability(logProbs: readonly number[], letters: readonly Letter[]): number {
  const tokens = [...new Set(letters.map(({ token }) => token))]
  const tokenLogProbs = tokens.flatMap((token) => logProbs[token] ?? [])
  if (tokenLogProbs.length === 0) return 0
  return (
    tokenLogProbs.reduce((sum, logProb) => sum + Math.min(1, Math.exp(logProb)), 0) /
    tokenLogProbs.length
  )
}
