import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { heldOut, heldOutElsewhere, tuned } from '../../../../test/support/text/sentence-cases.ts'
import type { Utterance } from '../../../transcript/transcript.ts'
import { splitSentences } from './sentences.ts'

type SpeakerRef = Partial<Pick<Utterance, 'channel' | 'language' | 'speaker'>> & { at?: number }

/**
 * Returns an utterance in which each word takes half a second, and `_` is half a second of silence;
 * `at` is the first half second.
 */
function say(
  text: string,
  { at = 0, channel = 0, language = 'en', ...whose }: SpeakerRef = {},
): Utterance {
  const words: Utterance['words'] = []
  let tick = at
  for (const part of text.split(' ')) {
    if (part === '_') tick++
    else words.push({ text: part, start: tick / 2, end: ++tick / 2, confidence: 1 })
  }
  return { channel, language, ...whose, words }
}

function texts(...utterances: Utterance[]): string[] {
  return splitSentences({ utterances }).map(({ text }) => text)
}

/** Returns the texts of a fixture that are cut otherwise than marked. */
function missed(cases: readonly [language: string, text: string][]): string[] {
  return cases.flatMap(([language, marked]) => {
    const cut = texts(say(marked.replaceAll('|', ' '), { language })).join('|')
    return cut === marked ? [] : [cut]
  })
}

function english(cases: readonly string[]): [string, string][] {
  return cases.map((text) => ['en', text])
}

test('a sentence ends after a word that is masked with asterisks', () => {
  assert.deepEqual(texts(say('C***. Holy c***! I left. J. Holy came.')), [
    'C***.',
    'Holy c***!',
    'I left.',
    'J. Holy came.',
  ])
})

test('abbreviations, initials, decimals and quotations do not end a sentence', () => {
  assert.deepEqual(missed(english(tuned)), [])
})

test('abbreviations before numbers continue, and end a sentence elsewhere', () => {
  const cases = [
    'See fig. 3, chap. 4 and pg. 12.|It is on para. 5.',
    'Call tel. 555 0199, ext. 12, at Apt. 4 in Rm. 7.|Thanks.',
    'It was built ca. 1900.|She left her rm.|He stayed.',
    'It takes approx. 20 minutes.|He said no.|Five came.',
    'She moved to Fresno, CA.|20 years later she left.',
    'Brown v. Board of Education was first.|It was Henry V.|Then Henry left.',
  ]
  assert.deepEqual(missed(english(cases)), [])
  assert.deepEqual(missed([['de', 'Das ist v.|Board kam.']]), [])
})

test('a sentence continues after a name with an exclamation mark, except before a usual start', () => {
  const cases = [
    'We used Yahoo! Mail.|We watched Jeopardy! Friday.',
    'I worked at Yahoo!|Is it still there?|I liked Yahoo!!|Google is fine.',
    'Yahoo!|Grandma is here.|We shouted.|Yahoo!|Dad came.|It was "fun."|Yahoo!|Mom came.|Our ship is in jeopardy!|Captain Lee cried.',
    'Wow!|Google came.|It is "Yahoo!"|Google is not.',
  ]
  assert.deepEqual(missed(english(cases)), [])
  assert.deepEqual(missed([['de', 'Das war Yahoo!|Google kam.']]), [])
})

test('held out: 29 of 30 unseen texts are split correctly', () => {
  const wrong = missed(english(heldOut))
  assert.ok(heldOut.length === 30 && wrong.length <= 1, wrong.join('\n'))
})

test('held out: 8 of 8 texts in other languages are split correctly', () => {
  assert.deepEqual([heldOutElsewhere.length, missed(heldOutElsewhere)], [8, []])
})

test('German ordinals continue, numbers before a usual sentence start end it', () => {
  assert.deepEqual(missed([['de', 'Er ist 30.|Sie kommt am 3. Mai.']]), [])
})

test('punctuation inside a multi-word token does not end a sentence', () => {
  const words = [
    { text: 'Yahoo! Inc', start: 0, end: 1, confidence: 1 },
    { text: 'grew.', start: 1, end: 2, confidence: 1 },
  ]
  assert.deepEqual(texts({ channel: 0, language: 'en', words }), ['Yahoo! Inc grew.'])
})

test('a sentence continues across utterances', () => {
  const [sentence] = splitSentences({ utterances: [say('one two'), say('three.', { at: 3 })] })
  assert.deepEqual(
    { text: sentence?.text, utterances: sentence?.utterances, end: sentence?.end },
    { text: 'one two three.', utterances: [0, 1], end: 2 },
  )
})

test('a pause of more than 1.5 s ends a sentence', () => {
  assert.deepEqual(texts(say('one _ _ _ two')), ['one two'])
  assert.deepEqual(texts(say('one _ _ _ _ two')), ['one', 'two'])
})

test('a change of speaker or language ends a sentence', () => {
  assert.deepEqual(texts(say('one', { speaker: 0 }), say('two', { at: 1, speaker: 1 })), [
    'one',
    'two',
  ])
  assert.deepEqual(texts(say('one'), say('deux', { at: 1, language: 'fr' })), ['one', 'deux'])
})

test('speech on another channel does not end a sentence', () => {
  const other = say('yes.', { at: 1, channel: 1 })
  assert.deepEqual(texts(say('one'), other, say('two.', { at: 2 })), ['one two.', 'yes.'])
})

test('sentences with the same start are sorted by channel', () => {
  assert.deepEqual(texts(say('b', { channel: 1 }), say('a')), ['a', 'b'])
})

test('an utterance without words does not interrupt a sentence', () => {
  const silent = { channel: 0, language: 'fr', words: [] }
  assert.deepEqual(texts(say('one'), silent, say('two', { at: 1 })), ['one two'])
})

test('more than 40 words are split at the comma, conjunction or pause near the middle', () => {
  const twenty = 'word '.repeat(20)
  const lengths = (text: string) => texts(say(text)).map((cut) => cut.split(' ').length)
  assert.deepEqual(lengths(`${twenty}${twenty}`.trim()), [40])
  assert.deepEqual(lengths(`${twenty}a, ${twenty}`.trim()), [21, 20])
  assert.deepEqual(lengths(`a b ${twenty}but ${twenty}`.trim()), [22, 21])
  assert.deepEqual(lengths(`a b c ${twenty}_ ${twenty}`.trim()), [23, 20])
})

test("'startsSentence' is true at a sentence start, not after a length split", () => {
  const startsSentence = (...utterances: Utterance[]) =>
    splitSentences({ utterances }).map((sentence) => sentence.startsSentence)
  assert.deepEqual(startsSentence(say('One. Two')), [true, true])
  assert.deepEqual(startsSentence(say('One _ _ _ _ two')), [true, false])
  assert.deepEqual(startsSentence(say('One. _ _ _ _ Two')), [true, true])
  assert.deepEqual(startsSentence(say('One', { speaker: 0 }), say('two', { at: 1, speaker: 1 })), [
    true,
    true,
  ])
  assert.deepEqual(startsSentence(say(`${'word '.repeat(41)}end. Next`)), [true, false, true])
})

test('the confidence of a sentence is the mean of its words', () => {
  const utterance = say('one two')
  utterance.words[1]!.confidence = 0.5
  assert.equal(splitSentences({ utterances: [utterance] })[0]?.confidence, 0.75)
})

test('every word is in one sentence, in order, within 40 words', () => {
  const word = fc.tuple(
    fc.constantFrom('a', 'B.', 'Dr.', 'c?', '3.', '5', '…', '"d."', 'U.S.', ''),
    fc.nat(5),
  )
  const whose = fc.record({
    channel: fc.nat(1),
    speaker: fc.nat(1),
    language: fc.constantFrom('en', 'ja'),
  })
  const utterance = fc.tuple(whose, fc.array(word, { maxLength: 60 }))
  fc.assert(
    fc.property(fc.array(utterance, { maxLength: 6 }), (parts) => {
      let clock = 0
      const utterances = parts.map(([whose, utterance]) => {
        const words = utterance.map(([text, pause]) => {
          const start = clock + pause / 2
          clock = start + 0.5
          return { text, start, end: clock, confidence: 1 }
        })
        return { ...whose, words }
      })
      const sentences = splitSentences({ utterances })
      const all = sentences.flatMap(({ words }) => words)
      const expected = utterances.flatMap(({ words }) => words)
      assert.equal(all.length, expected.length)
      assert.deepEqual(new Set(all), new Set(expected))
      for (const [i, { words, start, utterances: from, ...whose }] of sentences.entries()) {
        assert.ok(i === 0 || sentences[i - 1]!.start <= start)
        assert.ok(words.length <= 40)
        for (const [j, w] of words.entries()) {
          assert.ok(j === 0 || w.start - words[j - 1]!.end <= 1.5)
        }
        for (const at of from) {
          const { channel, speaker, language } = utterances[at]!
          assert.deepEqual(
            [whose.channel, whose.speaker, whose.language],
            [channel, speaker, language],
          )
        }
      }
    }),
  )
})
