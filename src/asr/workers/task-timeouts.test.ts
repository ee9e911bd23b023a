import assert from 'node:assert/strict'
import { test } from 'node:test'
import { speakersTimeoutFor, timeoutFor } from './task-timeouts.ts'

test('the timeout of a task grows with the audio of its segments', () => {
  assert.equal(timeoutFor([], 2), 60)
  const segments = [
    { start: 16_000, end: 32_000 },
    { start: 48_000, end: 96_000 },
  ]
  assert.equal(timeoutFor(segments, 2), 68)
})

test('the timeout of diarization grows with the speech of all channels', () => {
  const clusteredWords = (channel: number, seconds: number) => {
    const words = [1, seconds + 0.5].map((start) => ({
      text: 'a',
      start,
      end: start + 0.5,
      confidence: 1,
    }))
    return { channel, language: 'en', words }
  }
  assert.equal(speakersTimeoutFor({ utterances: [] }), 60)
  assert.equal(
    speakersTimeoutFor({ utterances: [clusteredWords(0, 100), clusteredWords(1, 200)] }),
    90,
  )
  assert.equal(speakersTimeoutFor({ utterances: [{ ...clusteredWords(0, 9), words: [] }] }), 60)
})
