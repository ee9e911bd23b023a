import assert from 'node:assert/strict'
import test from 'node:test'
import { subtitles } from '../add-ons/subtitles.ts'
import { localeOf } from './locale.ts'
import { splitSentences } from './sentences/sentences.ts'

test('a valid language keeps its code, an invalid one becomes the root locale', () => {
  assert.deepEqual(['en', 'zh', '??', ''].map(localeOf), ['en', 'zh', 'und', 'und'])
})

test('a transcript with an invalid language code is still split', () => {
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
