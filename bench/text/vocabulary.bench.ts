/**
 * `npm run bench -- vocabulary [--corpus DIR]`: measures how many misrecognitions of
 * vocabulary.json a custom vocabulary corrects, and how much of other text it damages, by
 * intensity; and the time of 500 entries on an hour of words. With a corpus, its reference texts
 * are part of the other text.
 */
import { readFileSync } from 'node:fs'
import { applyVocabulary } from '../../src/text/vocabulary/custom-vocabulary.ts'
import { foldedLetters } from '../../src/text/vocabulary/entries.ts'
import type { Utterance, Word } from '../../src/transcript/transcript.ts'
import { readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'

type Misrecognition = [sentence: string, value: string]
type Labeled = { tuning: Misrecognition[]; frozen: Misrecognition[]; ordinary: string[] }

/** The words of an hour of speech with few pauses. */
const WORDS_PER_HOUR = 9_000
const ENTRIES = 500
/** A common confidence of a recognized word. */
const CONFIDENCE = 0.85

const labeled = JSON.parse(
  readFileSync(new URL('vocabulary.json', import.meta.url), 'utf8'),
) as Labeled
const values = [...labeled.tuning, ...labeled.frozen].map(([, value]) => value)
const vocabulary = [...new Set(values)]
const { name, recordings } = await readCorpus()
const references = recordings.flatMap(({ transcript }) => transcript || [])
const ordinary = [...labeled.ordinary, ...references]
const ordinaryWords = ordinary.reduce((sum, text) => sum + text.split(/\s+/).length, 0)

for (const intensity of [0, 0.25, 0.5, 0.75, 1]) {
  report({
    bench: 'text/vocabulary',
    intensity,
    tuning: score(labeled.tuning, intensity),
    frozen: score(labeled.frozen, intensity),
    false: ordinary.reduce((sum, text) => sum + countFalse(text, intensity), 0),
    words: ordinaryWords,
    entries: vocabulary.length,
    corpus: name,
  })
}

const hour = utteranceOf(fill(ordinary.join(' ')))
// Names joined from spoken words: they begin and sound like many of them, which is the most
// expensive case.
const spokenWords = [
  ...new Set(ordinary.flatMap((text) => text.toLowerCase().match(/[a-z]{4,}/g) ?? [])),
]
const entries = Array.from({ length: ENTRIES }, (_, i) => {
  return (
    spokenWords[(i * 31) % spokenWords.length]! +
    spokenWords[(i * 17 + 5) % spokenWords.length]!.slice(0, 4)
  )
})
for (const run of ['first', 'next']) {
  const started = performance.now()
  applyVocabulary({ utterances: hour }, { vocabulary: entries })
  const seconds = (performance.now() - started) / 1000
  report({ bench: 'text/vocabulary', run, entries: ENTRIES, words: WORDS_PER_HOUR, seconds })
}

/** Counts the sentences that become right, and the changed words beside the names. */
function score(sentences: readonly Misrecognition[], intensity: number) {
  let fixed = 0
  let spoiled = 0
  for (const [sentence, value] of sentences) {
    const written = write(sentence.replace(/[[\]]/g, ''), intensity)
    if (written === sentence.replace(/\[.*\]/, value)) fixed++
    else if (!leaves(written, sentence)) spoiled++
  }
  return { of: sentences.length, fixed, spoiled }
}

/** Returns whether only the name of a sentence changed. */
function leaves(written: string, sentence: string): boolean {
  const [before = '', after = ''] = sentence.split(/\[.*\]/)
  const isUnchanged = written === sentence.replace(/[[\]]/g, '')
  return isUnchanged || (written.startsWith(before) && written.endsWith(after) && before !== after)
}

/** Counts new words that are not in the text, by letters, as one word or two. */
function countFalse(text: string, intensity: number): number {
  const phrase = text.split(/\s+/).map(foldedLetters)
  const letters = new Set(phrase.flatMap((word, i) => [word, word + (phrase[i + 1] ?? '')]))
  return write(text, intensity)
    .split(' ')
    .filter((word) => !letters.has(foldedLetters(word))).length
}

function write(text: string, intensity: number): string {
  const { utterances } = applyVocabulary(
    { utterances: utteranceOf(text.split(/\s+/)) },
    { vocabulary, default_intensity: intensity },
  )
  return utterances.flatMap(({ words }) => words.map((word) => word.text)).join(' ')
}

/** Words of 0.3 s without pauses in utterances of at most 40 words. */
function utteranceOf(texts: readonly string[]): Utterance[] {
  const utterances: Utterance[] = []
  for (let at = 0; at < texts.length; at += 40) {
    const words: Word[] = texts.slice(at, at + 40).map((text, i) => {
      return { text, start: (at + i) * 0.3, end: (at + i + 1) * 0.3, confidence: CONFIDENCE }
    })
    utterances.push({ channel: 0, language: 'en', words })
  }
  return utterances
}

function fill(text: string): string[] {
  const words = text.split(/\s+/)
  return Array.from({ length: WORDS_PER_HOUR }, (_, i) => words[i % words.length]!)
}
