import assert from 'node:assert/strict'
import test from 'node:test'
import { localAddOns } from '../../src/text/add-ons/add-ons.ts'
import { redact } from '../../src/text/redaction/redaction.ts'
import { createSpelling } from '../../src/text/transforms/spelling.ts'
import { createVocabulary } from '../../src/text/vocabulary/custom-vocabulary.ts'
import { phonesOf } from '../../src/text/vocabulary/phones.ts'
import { makeNamesConsistent } from '../../src/text/words/names/make-names-consistent.ts'
import { formatNumbers } from '../../src/text/words/numbers/format-numbers.ts'
import { enhancePunctuation } from '../../src/text/words/sentences/punctuation.ts'
import { tidyPunctuation } from '../../src/text/words/sentences/punctuation-marks.ts'
import { asksInEnglish } from '../../src/text/words/sentences/questions.ts'
import { foldCase, wordPartsOf } from '../../src/text/words/word-parts.ts'
import type { Transcript, Utterance } from '../../src/transcript/transcript.ts'
import { IS_SHORT } from '../support/random/rounds.ts'

/** Rows of one of these alone once made some step take quadratic time. */
const rows: Record<string, string> = {
  letters: 'a',
  blanks: ' ',
  'full stops': '.',
  apostrophes: "'",
  quotes: '"',
  dashes: '-',
  commas: '1,',
  stopped: 'a.',
  digits: '7',
  'combining marks': '\u0323\u0301',
  'accented letters': 'a\u0301',
  emoji: '👩‍👩‍👧',
  'surrogate halves': '\ud83d',
  Arabic: 'مر',
  Chinese: '中',
  Korean: '\u1100\u1161',
}
const texts: Record<string, string> = {
  names: 'Ask John Smith of 42 Maple Street, Boston, MA 02110. ',
  numbers: 'Call five five five one two three four. ',
  letters: 'A B C. ',
  cards: 'My card is 4111 1111 1111 1111. ',
  questions: 'what is it? ',
}
/** What follows a row; another letter matters to few steps. */
const ENDS = IS_SHORT ? ['', '!'] : ['', 'z', '!']
const SIZES = { row: 4_000, text: 12_000 }
/** Milliseconds of processor time below which a measurement is noise. */
const CHANCE = 100
/**
 * Four times the text may take three times longer than linear. Quadratic time takes sixteen times.
 */
const MOST = 12

const utteranceOf = (words: string[], channel = 0): Utterance => {
  const placed = words.map((text, i) => ({ text, start: i, end: i + 0.5, confidence: 0.9 }))
  return { channel, language: 'en', words: placed }
}
const oneWord = (text: string): Transcript => ({
  utterances: [utteranceOf(['Hello', text, 'there.'])],
})
const manyWords = (text: string): Transcript => ({
  utterances: [utteranceOf(text.trim().split(' '))],
})

const onText: Record<string, (text: string) => unknown> = {
  partsOf: wordPartsOf,
  foldCase,
  tidyMarks: (text) => tidyPunctuation(text, 'en'),
  phonesOf: (text) => phonesOf(text, 'en'),
  asksInEnglish,
  'the preparation of a vocabulary': (text) => {
    createVocabulary({ vocabulary: [text, { value: 'a', pronunciations: [text] }] }).apply(
      manyWords('a'),
    )
  },
  'the preparation of a spelling': (text) => {
    createSpelling({ spelling_dictionary: { [text]: ['a'], b: [text] } }).apply(manyWords('a'))
  },
}
const spelling_dictionary = { X: ['a', "a's", '. .', 'one a'], '!': ['mark'] }
const onTranscript: Record<string, (transcript: Transcript) => unknown> = {
  custom_vocabulary: (it) => createVocabulary({ vocabulary: ['Kubernetes', 'a'] }).apply(it),
  custom_spelling: (it) => createSpelling({ spelling_dictionary }).apply(it),
  punctuation_enhanced: enhancePunctuation,
  name_consistency: makeNamesConsistent,
  'number_formatting in words': (it) => formatNumbers(it, { style: 'words' }),
  'pii_redaction with markers': (it) => redact(it, { processed_text_type: 'MARKER' }),
  'pii_redaction with masks': (it) => redact(it, { processed_text_type: 'MASK' }),
}
for (const addOn of localAddOns) {
  const { name } = addOn
  if (name !== 'subtitles') onTranscript[name] = (it) => addOn.compute(it, {}, { format: 'native' })
  for (const maximum_characters_per_row of name === 'subtitles' ? [1, 1e9] : []) {
    const subtitles_config = { maximum_characters_per_row, formats: ['srt', 'vtt'] }
    onTranscript[`subtitles with rows of ${maximum_characters_per_row}`] = (it) => {
      return addOn.compute(it, { subtitles_config }, { format: 'native' })
    }
  }
}

/** Returns milliseconds of processor time. */
function cost(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** A step that is too slow is so each time; garbage of others slows one run, or two. */
const TRIES = 5

function assertScales(what: string, work: (size: number) => unknown, size: number): void {
  let large = cost(() => work(4 * size))
  if (large < CHANCE) return
  let small = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < TRIES; tries++) {
    large = Math.min(
      large,
      cost(() => work(4 * size)),
    )
    small = Math.min(
      small,
      cost(() => work(size)),
    )
    if (large < MOST * Math.max(small, CHANCE / MOST)) return
  }
  assert.fail(`${what}: ${small} ms, four times as much: ${large} ms`)
}

for (const [name, work] of Object.entries(onText)) {
  test(`${name} takes time proportional to the text`, () => {
    for (const [row, part] of Object.entries(rows)) {
      for (const end of ENDS) {
        assertScales(row, (size) => work(part.repeat(size / part.length) + end), SIZES.row)
      }
    }
  })
}

for (const [name, work] of Object.entries(onTranscript)) {
  test(`${name} takes time proportional to the transcript`, () => {
    for (const [row, part] of Object.entries(rows)) {
      const word = (size: number) => oneWord(`${part.repeat(size / part.length)}z`)
      assertScales(row, (size) => work(word(size)), SIZES.row)
    }
    for (const [text, part] of Object.entries(texts)) {
      assertScales(text, (size) => work(manyWords(part.repeat(size / part.length))), SIZES.text)
    }
  })
}
