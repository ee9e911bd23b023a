import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeNamesConsistent, writeNameChanges } from './make-names-consistent.ts'

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

test('names that sound alike get the most frequent spelling', () => {
  assert.deepEqual(rename('I met Katherine', 'then Catherine came', 'and Catherine left'), [
    'I met Catherine',
    'then Catherine came',
    'and Catherine left',
  ])
})

test('of equally frequent spellings the more confident one is kept', () => {
  const transcript = transcriptOf(['see Katherine', 'see Catherine'])
  transcript.utterances[0]!.words[1]!.confidence = 0.2
  assert.deepEqual(makeNamesConsistent(transcript).changes, [
    { from: 'Katherine', to: 'Catherine', count: 1 },
  ])
})

test('punctuation and a possessive around a name are kept', () => {
  assert.deepEqual(
    rename('by Catherine', 'by Catherine', 'the "Katherine\'s," yes').at(-1),
    'the "Catherine\'s," yes',
  )
})

test('two names in one sentence are distinguished everywhere', () => {
  const texts = ['we saw Catherine and Katherine', 'then Catherine left', 'so did Katherine']
  assert.deepEqual(rename(...texts), texts)
})

test('names in different sentences of an utterance are grouped', () => {
  assert.deepEqual(rename('I saw Catherine. Then Catherine and I saw. Not Katherine.'), [
    'I saw Catherine. Then Catherine and I saw. Not Catherine.',
  ])
})

test('a third spelling does not join a group that contains its rival', () => {
  const texts = ['by Cathryn', 'by Cathryn', 'by Cathryn', 'of Kathryn and Katheryn', 'by Kathryn']
  assert.deepEqual(rename(...texts), [
    'by Cathryn',
    'by Cathryn',
    'by Cathryn',
    'of Cathryn and Katheryn',
    'by Cathryn',
  ])
})

test('names that only resemble each other are kept', () => {
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

test('long names may differ slightly', () => {
  assert.deepEqual(
    rename('by Abramovich', 'by Abramovich', 'by Abramovitch').at(-1),
    'by Abramovich',
  )
  assert.deepEqual(
    rename('to Metoprolol', 'to Metoprolol', 'to Metobrolol').at(-1),
    'to Metoprolol',
  )
})

test('names with another first sound or script are kept', () => {
  const texts = ['by Benderovich', 'by Benderovich', 'by Penderovich', 'by Юрий', 'by Анна']
  assert.deepEqual(rename(...texts), texts)
})

test('common words and sentence starts are not names', () => {
  for (const texts of [
    ['we Will', 'we Will', 'we Wil'],
    ['a Phlox and', 'a Phlox or', 'a Flocks and', 'two flocks'],
    ['I saw Phlox. Flocks came', 'the Phlox'],
  ]) {
    assert.deepEqual(rename(...texts), texts)
  }
})

test('changes include the number of replacements', () => {
  const texts = ['by Catherine', 'by Catherine', 'by Catherine', 'by Katherine', 'to Katherine']
  const { changes } = makeNamesConsistent(transcriptOf(texts))
  assert.deepEqual(changes, [{ from: 'Katherine', to: 'Catherine', count: 2 }])
  assert.equal(writeNameChanges(changes), '[{"from":"Katherine","to":"Catherine","count":2}]')
  assert.equal(writeNameChanges([]), '[]')
})

test('other languages are unchanged', () => {
  const transcript = transcriptOf(['von Catherine', 'von Catherine', 'von Katherine'], 'de')
  assert.deepEqual(makeNamesConsistent(transcript), { transcript, changes: [] })
})

test('times, confidences and the input transcript are unchanged', () => {
  const given = transcriptOf(['by Catherine', 'by Catherine', 'by Katherine'])
  const before = structuredClone(given)
  const { transcript } = makeNamesConsistent(given)
  assert.deepEqual(given, before)
  const { text, ...rest } = transcript.utterances[2]!.words[1]!
  assert.equal(text, 'Catherine')
  assert.deepEqual(rest, { start: 21, end: 22, confidence: 0.75 })
})
