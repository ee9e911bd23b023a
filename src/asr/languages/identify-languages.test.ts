import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LanguageSpan } from '../speech-engine.ts'
import { identifyLanguages } from './identify-languages.ts'

const SECOND = 16_000
const { signal } = new AbortController()

const settings = (language: string) => {
  return { model: 'm', language, languages: [language], vocabulary: [] }
}
const languages = ['de', 'fr'].map((language) => {
  return { language, finals: settings(language), partials: settings(language) }
})

/** A part of a segment: its seconds, what it sounds like and how probably. */
type SpokenPart = [seconds: number, language: string, probability: number]

/** Plans segments that were heard like this, and returns the language and seconds of each part. */
async function plan(segments: readonly (readonly SpokenPart[])[]) {
  let at = 0
  const spans = segments.map((parts) => {
    return parts.map(([seconds, language, probability]): LanguageSpan => {
      const start = at
      at += seconds * SECOND
      const other = language === 'de' ? 'fr' : 'de'
      const probabilities = [
        { language, probability },
        { language: other, probability: 1 - probability },
      ]
      return { start, end: at, seconds, probabilities }
    })
  })
  const whole = spans.map((parts) => ({ start: parts[0]!.start, end: parts.at(-1)!.end }))
  const batch = { channel: 0, path: 'a.pcm', segments: whole, ...settings('de') }
  const identification = { model: 'm', languages, perUtterance: true }
  const identify = async () => spans
  const batches = await identifyLanguages([batch], identification, { identify, limit: 1, signal })
  return batches
    .flatMap(({ language, segments: batchSegments }) =>
      batchSegments.map((segment) => ({ language, segment })),
    )
    .sort((a, b) => a.segment.start - b.segment.start)
    .map(({ language, segment: { start, end, languageConfidence } }) => {
      return [language, (end - start) / SECOND, languageConfidence]
    })
}

test('each segment gets its language, an uncertain one that of the segment before', async () => {
  const found = await plan([[[4, 'de', 0.9]], [[1, 'fr', 0.6]], [[4, 'fr', 0.7]]])
  assert.deepEqual(
    found.map(([language]) => language),
    ['de', 'de', 'fr'],
  )
})

test('a segment is split only where a language change is probable', async () => {
  const sure = await plan([
    [
      [6, 'de', 0.95],
      [3, 'fr', 0.9],
    ],
  ])
  assert.deepEqual(sure, [
    ['de', 6, 0.95],
    ['fr', 3, 0.9],
  ])
  const unsure = await plan([
    [
      [6, 'de', 0.95],
      [3, 'fr', 0.6],
      [5, 'de', 0.9],
    ],
  ])
  assert.deepEqual(unsure, [['de', 14, 0.95]])
})
