import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeNamesConsistent, writeNameChanges } from './name-consistency.ts'

/** Returns one utterance per text, with falling confidence. */
function transcriptOf(texts: readonly string[], language = 'en') {
  const utterances = texts.map((text, at) => {
    const words = text.split(' ').map((word, i) => {
      return { text: word, start: at * 10 + i, end: at * 10 + i + 1, confidence: 1 - at / 8 }
    })
    return { channel: 0, language, words }
  })
  return { utterances }
}

function rename(...texts: string[]): string[] {
  return makeNamesConsistent(transcriptOf(texts)).transcript.utterances.map(({ words }) => {
    return words.map((word) => word.text).join(' ')
  })
}

test('names that sound alike get the spelling that most have', () => {
  assert.deepEqual(rename('I met Katherine', 'then Catherine came', 'and Catherine left'), [
    'I met Catherine',
    'then Catherine came',
    'and Catherine left',
  ])
})

test('of equally frequent spellings the surer one stays', () => {
  const transcript = transcriptOf(['see Katherine', 'see Catherine'])
  transcript.utterances[0]!.words[1]!.confidence = 0.2
  assert.deepEqual(makeNamesConsistent(transcript).changes, [
    { from: 'Katherine', to: 'Catherine', count: 1 },
  ])
})

test('marks and a possessive around a name stay', () => {
  assert.deepEqual(
    rename('by Catherine', 'by Catherine', 'the "Katherine\'s," yes').at(-1),
    'the "Catherine\'s," yes',
  )
})

test('two names that occur in one sentence stay apart in every sentence', () => {
  const texts = ['we saw Catherine and Katherine', 'then Catherine left', 'so did Katherine']
  assert.deepEqual(rename(...texts), texts)
})

test('names of two sentences of an utterance are one', () => {
  assert.deepEqual(rename('I saw Catherine. Then Catherine and I saw. Not Katherine.'), [
    'I saw Catherine. Then Catherine and I saw. Not Catherine.',
  ])
})

test('a third spelling joins no group in which it meets one', () => {
  const texts = ['by Cathryn', 'by Cathryn', 'by Cathryn', 'of Kathryn and Katheryn', 'by Kathryn']
  assert.deepEqual(rename(...texts), [
    'by Cathryn',
    'by Cathryn',
    'by Cathryn',
    'of Cathryn and Katheryn',
    'by Cathryn',
  ])
})

test('names that only resemble each other stay', () => {
  const texts = [
    'I met Kelly',
    'I met Kerry',
    'I met Aaron',
    'I met Erin',
    'I met Molly',
    'I met Mary',
  ]
  assert.deepEqual(rename(...texts), texts)
})

test('long names may differ a little', () => {
  assert.deepEqual(
    rename('by Abramovich', 'by Abramovich', 'by Abramovitch').at(-1),
    'by Abramovich',
  )
  assert.deepEqual(
    rename('to Metoprolol', 'to Metoprolol', 'to Metobrolol').at(-1),
    'to Metoprolol',
  )
})

test('names that begin with another sound, and those in other letters, stay', () => {
  const texts = ['by Benderovich', 'by Benderovich', 'by Penderovich', 'by Юрий', 'by Анна']
  assert.deepEqual(rename(...texts), texts)
})

test('words that are common, small elsewhere, or only begin sentences are no names', () => {
  for (const texts of [
    ['we Will', 'we Will', 'we Wil'],
    ['a Phlox and', 'a Phlox or', 'a Flocks and', 'two flocks'],
    ['I saw Phlox. Flocks came', 'the Phlox'],
  ]) {
    assert.deepEqual(rename(...texts), texts)
  }
})

test('the changes tell how often a spelling was replaced, as text too', () => {
  const texts = ['by Catherine', 'by Catherine', 'by Catherine', 'by Katherine', 'to Katherine']
  const { changes } = makeNamesConsistent(transcriptOf(texts))
  assert.deepEqual(changes, [{ from: 'Katherine', to: 'Catherine', count: 2 }])
  assert.equal(writeNameChanges(changes), '[{"from":"Katherine","to":"Catherine","count":2}]')
  assert.equal(writeNameChanges([]), '[]')
})

test('other languages stay as they are', () => {
  const transcript = transcriptOf(['von Catherine', 'von Catherine', 'von Katherine'], 'de')
  assert.deepEqual(makeNamesConsistent(transcript), { transcript, changes: [] })
})

test('times and confidences stay, and so does the given transcript', () => {
  const given = transcriptOf(['by Catherine', 'by Catherine', 'by Katherine'])
  const before = structuredClone(given)
  const { transcript } = makeNamesConsistent(given)
  assert.deepEqual(given, before)
  const { text, ...rest } = transcript.utterances[2]!.words[1]!
  assert.equal(text, 'Catherine')
  assert.deepEqual(rest, { start: 21, end: 22, confidence: 0.75 })
})
