import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import type { Moderation } from '../add-ons/moderation.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { moderation } from './moderation.ts'

function say(text: string, start: number, language = 'en'): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: start + i, end: start + i + 1, confidence: 0.9 }
  })
  return { channel: 0, language, words }
}

const transcript = {
  utterances: [say('This is damn good.', 0), say('Ich bringe dich um.', 10, 'de')],
}
const format = 'string'

test('a model judges sentences in any language, in addition to the word lists', () => {
  const [request, ...more] = moderation.prepare(transcript, {})
  assert.deepEqual(more, [])
  assert.deepEqual(request!.sentences, ['This is damn good.', 'Ich bringe dich um.'])
  const flags = [
    { sentence: 1, category: 'threat' },
    { sentence: 0, category: 'profanity' },
  ]
  const { results, isEmpty } = moderation.merge(transcript, {}, [{ flags }], { format })
  const { flagged, categories, items } = JSON.parse(results as string) as Moderation
  assert.deepEqual([isEmpty, flagged], [false, true])
  assert.deepEqual(categories, { profanity: 1, slur: 0, threat: 1, self_harm: 0 })
  assert.deepEqual(items, [
    { text: 'This is damn good.', category: 'profanity', start: 0, end: 4, channel: 0 },
    { text: 'Ich bringe dich um.', category: 'threat', start: 10, end: 14, channel: 0 },
  ])
})

test('word lists find what the model misses, and a failed model fails the add-on', () => {
  const { results } = moderation.merge(transcript, {}, [{ flags: [] }], { format })
  assert.deepEqual((JSON.parse(results as string) as Moderation).categories.profanity, 1)
  const error = { status_code: 502, exception: 'ServiceFailed', message: 'down' }
  assert.throws(
    () => moderation.merge(transcript, {}, [{ error }], { format }),
    (thrown: unknown) => thrown instanceof AddOnFailedError && thrown.error === error,
  )
})

test('without speech no request is made', () => {
  const silent = { utterances: [] }
  assert.deepEqual(moderation.prepare(silent, {}), [])
  assert.equal(moderation.merge(silent, {}, [], { format }).isEmpty, true)
})
