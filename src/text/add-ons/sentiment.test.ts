import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { sentiment } from './sentiment.ts'

/** Returns words of 0.4 s each, one every half second from `start`. */
function utterance(
  text: string,
  { start = 0, ...whose }: Partial<Utterance> & { start?: number } = {},
): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: start + i / 2, end: start + i / 2 + 0.4, confidence: 0.9 }
  })
  return { channel: 0, language: 'en', ...whose, words }
}

test('sentiment includes text, sentiment, emotion, times, channel and speaker', () => {
  const utterances = [
    utterance('That works for me. This is ridiculous!', { speaker: 1 }),
    utterance('My name is Ann.', { start: 9, channel: 1 }),
  ]
  assert.deepEqual(sentiment({ utterances }), [
    {
      text: 'That works for me.',
      sentiment: 'positive',
      emotion: 'contentment',
      start: 0,
      end: 1.9,
      channel: 0,
      speaker: 1,
    },
    {
      text: 'This is ridiculous!',
      sentiment: 'negative',
      emotion: 'anger',
      start: 2,
      end: 3.4,
      channel: 0,
      speaker: 1,
    },
    {
      text: 'My name is Ann.',
      sentiment: 'neutral',
      emotion: 'neutral',
      start: 9,
      end: 10.9,
      channel: 1,
    },
  ])
})

test('sentiment rounds times to milliseconds', () => {
  const [only] = sentiment({ utterances: [utterance('Fine.', { start: 1 / 3 })] })
  assert.deepEqual([only!.start, only!.end], [0.333, 0.733])
})

test('the sentiment of an unsupported language is unknown', () => {
  const [only] = sentiment({
    utterances: [utterance('Das ist ein Gift, bad!', { language: 'de' })],
  })
  assert.deepEqual([only!.sentiment, only!.emotion], ['unknown', 'neutral'])
})

test('sentiment of a transcript without speech is empty', () => {
  assert.deepEqual(sentiment({ utterances: [] }), [])
})
