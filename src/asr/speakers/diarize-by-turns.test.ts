import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Word } from '../../transcript/transcript.ts'
import { assignByTurns, diarizeByTurns } from './diarize-by-turns.ts'
import type { SpeakerTurn } from './embedding/diarization-pipeline.ts'

/** One word per second, half a second long: word n begins at n. */
function words(count: number): Word[] {
  return Array.from({ length: count }, (_, start) => {
    return { text: `w${start}`, start, end: start + 0.5, confidence: 1 }
  })
}

function turn(start: number, end: number, speaker: number): SpeakerTurn {
  return { start, end, speaker }
}

test('a word gets the speaker whose turns overlap it most', () => {
  const turns = [
    turn(0, 9, 2),
    turn(0.9, 1.2, 1),
    turn(3, 3.5, 0),
    turn(4.4, 5, 1),
    turn(5, 5.2, 1),
  ]
  assert.deepEqual(assignByTurns(words(6), turns).speakers, [2, 2, 2, 0, 2, 2])
})

test('overlapping turns of one speaker count together', () => {
  const turns = [turn(0, 0.2, 1), turn(0.1, 0.4, 0), turn(0.3, 0.5, 1)]
  assert.deepEqual(assignByTurns(words(1), turns).speakers, [1])
})

test('a word outside all turns gets the nearest, a zero-length one its enclosing turn', () => {
  const turns = [turn(0, 1.9, 0), turn(0.1, 0.2, 3), turn(3.2, 3.4, 1), turn(9, 9.5, 2)]
  const point = { text: 'x', start: 9.2, end: 9.2, confidence: 1 }
  const clusteredWords = assignByTurns([...words(8).slice(2), point], turns)
  assert.deepEqual(clusteredWords.speakers, [0, 1, 1, 1, 2, 2, 2])
})

test('the margin is largest within one turn, smaller in two and smallest in none', () => {
  const turns = [turn(0, 1.5, 0), turn(1.25, 2, 1)]
  const { margins } = assignByTurns(words(4), turns)
  assert.ok(margins[0]! > margins[1]! && margins[1]! > margins[3]!)
})

test('without turns all words have one speaker', () => {
  assert.deepEqual(assignByTurns(words(2), []).speakers, [0, 0])
})

test('speakers are numbered by first appearance, and utterances split at changes', () => {
  const [left, right] = [words(3), words(1)]
  right[0]!.start = 1.7
  right[0]!.end = 1.9
  const utterances = [
    { channel: 0, language: 'en', words: left },
    { channel: 1, language: 'en', words: right },
  ]
  const clusteredWords = diarizeByTurns({ utterances }, [
    { channel: 0, turns: [turn(0, 1.5, 0), turn(1.9, 3, 1)] },
    { channel: 1, turns: [turn(0, 3, 0)] },
  ])
  assert.deepEqual(
    clusteredWords.map(({ channel, speaker, words }) => [
      channel,
      speaker,
      words.map(({ text }) => text),
    ]),
    [
      [0, 0, ['w0', 'w1']],
      [1, 1, ['w0']],
      [0, 2, ['w2']],
    ],
  )
  assert.ok(clusteredWords[0]!.speakerConfidence > 0.8)
})
