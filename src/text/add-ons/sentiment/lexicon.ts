import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Emotion, isEmotion } from './emotions.ts'

/** The sentiment of a phrase: valence from -5 to 5, and an emotion where it has one. */
export type LexiconEntry = { valence: number; emotion?: Emotion }

/** The longest phrase of the list, in words. */
export const MAX_PHRASE_WORDS = 6

/**
 * Words with a lower AFINN value are ignored: many are neutral on the phone ("charges", "free",
 * "stop").
 */
const MIN_AFINN = 2

let loaded: Map<string, LexiconEntry> | undefined

/**
 * Returns the entry of an English phrase in lower case, its words separated by single spaces. Our
 * own phrases come first, then the words of AFINN-165 (Nielsen, "A new ANEW", 2011). The lists are
 * read on first use.
 */
export function entryOf(phrase: string): LexiconEntry | undefined {
  loaded ??= readEntries()
  return loaded.get(phrase)
}

function readEntries(): Map<string, LexiconEntry> {
  const require = createRequire(import.meta.url)
  const afinn: Record<string, number> = require('wink-sentiment/src/afinn-en-165.js')
  const entries = new Map<string, LexiconEntry>()
  for (const [word, valence] of Object.entries(afinn)) {
    if (Math.abs(valence) >= MIN_AFINN) entries.set(foldHyphens(word), { valence })
  }
  for (const [phrase, entry] of readOwn()) {
    const valence = stronger(entry.valence, entries.get(phrase)?.valence)
    entries.set(phrase, { ...entry, valence })
  }
  return entries
}

function readOwn(): [string, LexiconEntry][] {
  const text = readFileSync(new URL('../../words/lists/sentiment.txt', import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return lines.map((line) => {
    const [phrase = '', valence, emotion = ''] = line.split('\t')
    const entry = { valence: Number(valence) }
    return [foldHyphens(phrase), isEmotion(emotion) ? { ...entry, emotion } : entry]
  })
}

/** Returns the stronger of two values with the same sign; otherwise the value of our own list. */
function stronger(valence: number, other = 0): number {
  return valence * other > 0 && Math.abs(other) > Math.abs(valence) ? other : valence
}

function foldHyphens(phrase: string): string {
  return phrase.replaceAll('-', ' ')
}
