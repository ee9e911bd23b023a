import assert from 'node:assert/strict'
import test from 'node:test'
import { subtitles } from '../add-ons/subtitles.ts'
import { localeOf } from './locale.ts'
import { splitSentences } from './sentences/sentences.ts'

test('a language keeps its code, one that is none becomes the root locale', () => {
  assert.deepEqual(['en', 'zh', '??', ''].map(localeOf), ['en', 'zh', 'und', 'und'])
})

test('a transcript in a language that nobody knows is cut all the same', () => {
  const words = ['One.', 'Two.'].map((text, i) => {
    return { text, start: i, end: i + 0.5, confidence: 1 }
  })
  const transcript = { utterances: [{ channel: 0, language: '??', words }] }
  assert.deepEqual(
    splitSentences(transcript).map(({ text }) => text),
    ['One.', 'Two.'],
  )
  assert.match(subtitles(transcript)[0]!.subtitles, /One\. Two\./)
})
