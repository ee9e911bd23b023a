import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { createDialogue, type Dialogue, embeddingOf } from '../../../test/support/asr/dialogue.ts'
import { splitUtterances } from '../../transcript/split-utterances.ts'
import type { SpeakerCounts } from '../speech-engine.ts'
import { diarizeByEmbeddings } from './diarize-by-embeddings.ts'

function diarizeTalks(talks: readonly Dialogue[], counts: SpeakerCounts = {}) {
  const utterances = talks.flatMap(({ words }, channel) =>
    splitUtterances(words, { channel, language: 'en' }),
  )
  const embeddings = talks.map(({ windows }, channel) => ({ channel, windows }))
  return diarizeByEmbeddings({ utterances }, { embeddings, counts })
}

/** The speaker of each word, as digits, words in order of time. */
function digits(utterances: ReturnType<typeof diarizeTalks>): string {
  return utterances.map(({ words, speaker }) => String(speaker).repeat(words.length)).join('')
}

const dialogue = 'aaaaaaaaaa. bbbbbbbbbb. aaaaaaaa. bbbbbbbbbbbb. aaaaaaaaaa. bbbbbbbbb.'

test('utterances end where the speaker changes, and speakers are numbered in order', () => {
  const clusteredWords = diarizeTalks([createDialogue(dialogue)])
  const turns = dialogue.split(' ').map((turn, i) => String(i % 2).repeat(turn.length - 1))
  assert.equal(digits(clusteredWords), turns.join(''))
  for (const { words } of clusteredWords)
    assert.equal(new Set(words.map(({ text }) => text[0])).size, 1)
})

test('diarization is deterministic: equal input gives equal output', () => {
  assert.deepEqual(
    diarizeTalks([createDialogue(dialogue)]),
    diarizeTalks([createDialogue(dialogue)]),
  )
})

test('windows may be given in any order', () => {
  const talked = createDialogue(dialogue)
  assert.deepEqual(
    diarizeTalks([{ ...talked, windows: talked.windows.toReversed() }]),
    diarizeTalks([talked]),
  )
})

/** A third speaker of a second and a half, too short to count as one. */
const short = `${dialogue} cccc. aaaaaaaaaa`

test('speaker counts are met as far as there are voices', () => {
  const speakers = (counts: SpeakerCounts, letters = dialogue) => {
    return new Set(diarizeTalks([createDialogue(letters)], counts).map(({ speaker }) => speaker))
      .size
  }
  assert.equal(speakers({}), 2)
  assert.equal(speakers({ exact: 1 }), 1)
  assert.equal(speakers({ max: 1 }), 1)
  assert.equal(speakers({ min: 3 }, short), 3)
  assert.equal(speakers({ exact: 5 }, 'aaa'), 1)
})

test('each side of a call has one speaker, even with several voices', () => {
  const clusteredWords = diarizeTalks([
    createDialogue('aaaaaaa bbbbbbb aaaaaaa bbbbbbb'),
    createDialogue('  cccccccccccccccc'),
  ])
  assert.deepEqual(
    [...new Set(clusteredWords.map(({ channel, speaker }) => `${channel}${speaker}`))],
    ['00', '11'],
  )
})

test('a speaker count splits the side of a call where two speak', () => {
  const clusteredWords = diarizeTalks(
    [
      createDialogue('cccccccccccc cccccccccc'),
      createDialogue(`${dialogue} ${dialogue}`, { seed: 1 }),
    ],
    { exact: 3 },
  )
  const speakers = new Set(clusteredWords.map(({ channel, speaker }) => `${channel}${speaker}`))
  assert.equal([...speakers].filter((speaker) => speaker.startsWith('1')).length, 2)
})

/** Both speakers on one channel, and both on a second with different noise. */
const room = [createDialogue(dialogue), createDialogue(dialogue, { seed: 1 })]

test('microphones of one room get the same speakers', () => {
  for (const counts of [{}, { exact: 2 }, { max: 2 }]) {
    const clusteredWords = diarizeTalks(room, counts)
    const turns = dialogue.split(' ').map((_, i) => i % 2)
    for (const channel of [0, 1]) {
      const ofChannel = clusteredWords.filter((utterance) => utterance.channel === channel)
      assert.deepEqual(
        ofChannel.map(({ speaker }) => speaker),
        turns,
      )
    }
  }
})

test('a speaker near only one microphone is added, and counts cover all channels', () => {
  const third = createDialogue(`${dialogue} cccccccccccccccccccc.`, { seed: 1 })
  const speakers = (counts: SpeakerCounts) => {
    return diarizeTalks([room[0]!, third], counts).map(({ speaker }) => speaker)
  }
  assert.deepEqual([...new Set(speakers({}))], [0, 1, 2])
  assert.equal(speakers({}).at(-1), 2)
  assert.equal(new Set(speakers({ max: 2 })).size, 2)
  assert.equal(new Set(speakers({ exact: 1 })).size, 1)
})

test('channels of a session are processed one after the other', () => {
  // Windows that alternate between the channels would be thinned as neighbors, and one channel
  // would drop out.
  const [near, far] = [
    createDialogue('aaaaaaaaaaaaaaaaaaaa'),
    createDialogue('bbbbbbbbbbbbbbbbbbbb', { seed: 1 }),
  ]
  const same = far.words.map((word, i) => ({ ...word, text: near.words[i]!.text }))
  const clusteredWords = diarizeTalks([near, { ...far, words: same }])
  assert.deepEqual(
    clusteredWords.map(({ channel, speaker }) => `${channel}${speaker}`),
    ['00', '11'],
  )
})

test('words without windows get one speaker, and an empty transcript is accepted', () => {
  assert.deepEqual(diarizeTalks([]), [])
  const { words } = createDialogue('aaa')
  const clusteredWords = diarizeTalks([{ words, speakers: 'aaa', windows: [] }], { min: 2 })
  assert.deepEqual(digits(clusteredWords), '000')
})

test('utterances are not merged across languages', () => {
  const { words, windows } = createDialogue('aaaaaa')
  const utterances = [
    { channel: 0, language: 'en', words: words.slice(0, 3) },
    { channel: 0, language: 'fr', words: words.slice(3) },
  ]
  const clusteredWords = diarizeByEmbeddings(
    { utterances },
    { embeddings: [{ channel: 0, windows }], counts: {} },
  )
  assert.deepEqual(
    clusteredWords.map(({ language, words }) => [language, words.length]),
    [
      ['en', 3],
      ['fr', 3],
    ],
  )
})

test('speaker confidence is between 0 and 1, and lower without windows', () => {
  const clusteredWords = diarizeTalks([
    createDialogue('aaaaaaaaaaaaaaa bbbbbbbbbbbbbbb aaaaaaaaaaaaaaa'),
  ])
  for (const { speakerConfidence } of clusteredWords)
    assert.ok(speakerConfidence > 0 && speakerConfidence < 1)
  const unsure = diarizeTalks([{ ...createDialogue('aaa'), windows: [] }])
  assert.ok(unsure[0]!.speakerConfidence < clusteredWords[0]!.speakerConfidence)
})

test('speaker confidence is low where two speak at once', () => {
  const talked = createDialogue(`${dialogue} aaaaaaaaaaaa`)
  const last = talked.words.at(-12)!.start * 16_000
  const windows = talked.windows.map((window, i) => {
    const both = embeddingOf({ a: 0.5, b: 0.5 }, 500 + i)
    return window.start >= last - 4000 ? { ...window, embedding: both } : window
  })
  const clusteredWords = diarizeTalks([{ ...talked, windows }])
  assert.ok(clusteredWords.at(-1)!.speakerConfidence < 0.7)
  for (const { speakerConfidence } of clusteredWords.slice(0, -2))
    assert.ok(speakerConfidence > 0.85)
})

test('diarization loses or changes no word, and utterances are in order of time', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', 'a', 'b'), maxLength: 60 })
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 3 }), fc.nat(4), (texts, exact) => {
      const talks = texts.map((text, seed) => createDialogue(text, { seed }))
      const clusteredWords = diarizeTalks(talks, { exact })
      for (const [channel, { words }] of talks.entries()) {
        const ofChannel = clusteredWords.filter((utterance) => utterance.channel === channel)
        assert.deepEqual(
          ofChannel.flatMap((utterance) => utterance.words),
          words,
        )
      }
      const starts = clusteredWords.map(({ words }) => words[0]!.start)
      assert.deepEqual(
        starts,
        starts.toSorted((a, b) => a - b),
      )
      assert.deepEqual(
        [...new Set(clusteredWords.map(({ speaker }) => speaker))],
        [...new Set(clusteredWords.map(({ speaker }) => speaker))].toSorted((a, b) => a - b),
      )
    }),
    { numRuns: 40, seed: 7 },
  )
})
