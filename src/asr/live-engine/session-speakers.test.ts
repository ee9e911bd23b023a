import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embeddingOf, inLetters } from '../../../test/support/asr/dialogue.ts'
import type { SpeakerCounts } from '../speech-engine.ts'
import { createSessionSpeakers, type SessionSpeakers } from './session-speakers.ts'

type Options = { counts?: SpeakerCounts; channels?: number; voices?: SessionSpeakers }

function open({ counts = {}, channels = 1 }: Options = {}): SessionSpeakers {
  return createSessionSpeakers({ channels, counts })
}

/**
 * The speakers of a script: each letter is an utterance of the speaker of that name, two seconds
 * long, or half a second for a capital; `-` is an utterance without an embedding, `|` switches to
 * the next channel and back.
 */
function speakers(pattern: string, { voices, ...options }: Options = {}): (number | undefined)[] {
  const assigned = voices ?? open(options)
  let channel = 0
  return [...pattern].flatMap((letter, seed) => {
    if (letter === '|') channel = 1 - channel
    if (letter === '|') return []
    if (letter === '-') return [assigned.speakerOf(channel, undefined)]
    const isShort = letter !== letter.toLowerCase()
    const embedding = embeddingOf({ [letter.toLowerCase()]: 1 }, seed)
    return [assigned.speakerOf(channel, { embedding, seconds: isShort ? 0.5 : 2 })]
  })
}

test('each voice is a speaker, numbered from 0 by first appearance', () => {
  assert.deepEqual(speakers('caccabba'), [0, 1, 0, 0, 1, 2, 2, 1])
})

test('an utterance under a second adds no speaker and goes to the nearest one', () => {
  assert.deepEqual(speakers('abABC').slice(0, 4), [0, 1, 0, 1])
  assert.ok(speakers('abABC')[4]! < 2)
})

test('a short first utterance makes a speaker, which later ones refine', () => {
  assert.deepEqual(speakers('Aabab'), [0, 0, 1, 0, 1])
})

test('an utterance without an embedding goes to the last speaker of its channel', () => {
  assert.deepEqual(speakers('-ab-a-'), [undefined, 0, 1, 1, 0, 0])
  assert.deepEqual(speakers('a|-', { channels: 2 }), [0, undefined])
})

test('there are no more speakers than requested', () => {
  for (const counts of [{ exact: 2 }, { max: 2 }]) {
    const reported = speakers('abcdabab', { counts })
    assert.ok(reported.every((speaker) => speaker! < 2))
    assert.deepEqual(reported.slice(4), [0, 1, 0, 1], 'a voice too many does not spoil the others')
  }
  assert.deepEqual(new Set(speakers('abcdab')).size, 4)
})

test('each channel has its own speaker, or more if more are requested', () => {
  assert.deepEqual(speakers('ab|ab|ab', { channels: 2 }), [0, 0, 1, 1, 0, 0])
  const more = speakers('ab|ab', { channels: 2, counts: { min: 4 } })
  assert.equal(inLetters(more as number[]), 'abcd')
})

test('a channel without speech keeps its place within the speaker count', () => {
  const reported = speakers('abc|d', { channels: 2, counts: { exact: 3 } })
  assert.equal(reported[3], 2)
  assert.ok(reported[2]! < 2)
})

test('a restored state yields the same speakers as an uninterrupted one', () => {
  const pattern = 'abcAB-abcdacbdBADC'
  const whole = speakers(pattern)
  for (let cut = 1; cut < pattern.length; cut++) {
    const first = open()
    speakers(pattern.slice(0, cut), { voices: first })
    const written = JSON.parse(JSON.stringify(first.state))
    const voices = createSessionSpeakers({ channels: 1, counts: {} }, written)
    const rest = speakers('-'.repeat(cut) + pattern.slice(cut), { voices }).slice(cut)
    assert.deepEqual(rest, whole.slice(cut), `cut at ${cut}`)
    const undisturbed = open()
    speakers(pattern, { voices: undisturbed })
    assert.deepEqual(voices.state, undisturbed.state)
  }
})
