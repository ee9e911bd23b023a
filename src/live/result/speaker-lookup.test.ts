import assert from 'node:assert/strict'
import test from 'node:test'
import { createSpeakerLookup } from './speaker-lookup.ts'

/**
 * Returns utterances of a second each on one channel: a digit is a speaker, `?` an unknown one, `.`
 * no utterance.
 */
function utterancesBy(speakers: string, channel = 0) {
  return [...speakers].flatMap((speaker, start) => {
    if (speaker === '.') return []
    const text = { language: 'en', text: 'a', json: '', confidences: [] }
    const fields = { channel, start, end: start + 1, ...text }
    return [speaker === '?' ? fields : { ...fields, speaker: Number(speaker) }]
  })
}

const speakerAt = createSpeakerLookup([...utterancesBy('01.2?00'), ...utterancesBy('4', 1)])

test('the speaker of a span is the one who speaks most of it', () => {
  const found = (start: number, end: number) => speakerAt({ channel: 0, start, end })
  assert.equal(found(0, 1), 0)
  assert.equal(found(0.2, 1.5), 0)
  assert.equal(found(0.8, 1.5), 1)
  assert.equal(found(0.9, 7), 0, 'over all that he says')
  assert.equal(found(3.5, 4.9), 2)
})

test('there is no speaker without a turn or on another channel', () => {
  assert.equal(speakerAt({ channel: 0, start: 2.1, end: 2.9 }), undefined)
  assert.equal(speakerAt({ channel: 0, start: 4, end: 5 }), undefined)
  assert.equal(speakerAt({ channel: 1, start: 0, end: 1 }), 4)
  assert.equal(speakerAt({ channel: 2, start: 0, end: 1 }), undefined)
})
