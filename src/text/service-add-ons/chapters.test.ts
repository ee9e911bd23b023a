import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import { type Chapter, chapters as extracted } from '../add-ons/chapters.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { chapters } from './chapters.ts'

const format = 'string'

/** Ten sentences of six seconds about each of some topics. */
function talkAbout(...topics: string[]): Transcript {
  const utterances = topics.flatMap((topic, t) => {
    return Array.from({ length: 10 }, (_, i): Utterance => {
      const at = (t * 10 + i) * 6
      const texts = ['Our', topic, 'is', `number${i % 3}`, 'among', `${topic}s.`]
      const words = texts.map((text, n) => {
        return { text, start: at + n, end: at + n + 1, confidence: 0.9 }
      })
      return { channel: 0, language: 'en', words }
    })
  })
  return { utterances }
}

const garden = talkAbout('garden', 'budget')

test('without a model chapters use sentences, words and times of the transcript', () => {
  const { results, isEmpty } = extracted.compute(garden, {}, { format })
  const [first, second] = results as Chapter[]
  assert.deepEqual([first!.start, first!.end, second!.start, second!.end], [0, 60, 60, 120])
  assert.equal(first!.keywords[0], 'garden')
  assert.match(second!.headline, /^Our budget is number\d among budgets$/)
  assert.equal(second!.gist, `${second!.headline}.`)
  assert.equal(isEmpty, false)
  assert.deepEqual(extracted.compute({ utterances: [] }, {}, { format }).results, [])
})

test('long sentences make short headlines, and markers are not keywords', () => {
  const text = `The ${'very '.repeat(20)}long garden`
  const words = `${text} of [NAME_1] and 1984.`.split(' ').map((one, i) => {
    return { text: one, start: i, end: i + 1, confidence: 0.9 }
  })
  const spoken = { utterances: [{ channel: 0, language: 'en', words }] }
  const [chapter] = extracted.compute(spoken, {}, { format }).results as Chapter[]
  assert.equal(chapter!.headline, `The ${'very '.repeat(11).trim()}…`)
  assert.deepEqual(chapter!.keywords.toSorted(), ['garden', 'long'])
})

test('keywords are words as they were said, not stems', () => {
  const keywordsOf = (text: string) => {
    const words = text.split(' ').map((one, i) => {
      return { text: one, start: i, end: i + 1, confidence: 0.9 }
    })
    const spoken = { utterances: [{ channel: 0, language: 'en', words }] }
    return (extracted.compute(spoken, {}, { format }).results as Chapter[])[0]!.keywords
  }
  assert.deepEqual(keywordsOf("Texas' movies physics."), ['texas', 'movies', 'physics'])
  assert.deepEqual(keywordsOf('Garden gardens budget gardens.'), ['gardens', 'budget'])
})

test('a model describes each chapter, and failed ones are extracted', () => {
  const requests = chapters.prepare(garden, {})
  assert.equal(requests.length, 2)
  assert.match(requests[0]!.text as string, /^(Our garden is .*\n?){10}$/)
  const error = { status_code: 503, exception: 'ServiceFailed', message: 'down' }
  const texts = { headline: 'Plants', gist: 'All about plants.', summary: 'Plants.', keywords: [] }
  const { results } = chapters.merge(garden, {}, [texts, { error }], { format })
  const [first, second] = results as Chapter[]
  assert.deepEqual([first!.headline, first!.summary, first!.end], ['Plants', 'Plants.', 60])
  assert.equal(first!.keywords[0], 'garden')
  assert.match(second!.headline, /budget/)
  assert.throws(
    () => chapters.merge(garden, {}, [{ error }, { error }], { format }),
    (thrown: unknown) => thrown instanceof AddOnFailedError && thrown.error === error,
  )
})
