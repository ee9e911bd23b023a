import assert from 'node:assert/strict'
import test from 'node:test'
import { type Envelope, failedEnvelope } from '../../text/result/steps/envelope.ts'
import { formatLogRecord } from '../journal/log-records.ts'
import type { AddOnResults } from '../messages/realtime-add-ons.ts'
import { type CollectOptions, collectAddOnResults } from './add-on-results.ts'

const none = { translation: false, named_entity_recognition: false, sentiment_analysis: false }
const why = { status_code: 500, exception: 'AddonFailed', message: 'it broke down' }

function found(...starts: number[]): Envelope {
  const results = starts.map((start) => ({ start }))
  return { success: true, is_empty: starts.length === 0, exec_time: 0.25, error: null, results }
}

type Requested = {
  requested: Partial<typeof none>
  format?: 'string' | 'native'
  channelOf?: (number: number) => number
  speakerAt?: CollectOptions['speakerAt']
}

/** Returns the result's add-on answers for results, one per utterance. */
async function responsesOf(
  results: readonly AddOnResults[],
  requested: Requested,
): Promise<Record<string, Envelope>> {
  const { responses: answers } = await collect(results, requested)
  return Object.fromEntries(Object.entries(answers).map(([key, text]) => [key, JSON.parse(text)]))
}

function collect(
  results: readonly AddOnResults[],
  { requested, format = 'string', channelOf = () => 0, speakerAt = () => undefined }: Requested,
) {
  const lines = results.map((results, number) => {
    return formatLogRecord({
      kind: 'found',
      found: { channel: channelOf(number), number, results },
    })
  })
  async function* readLog() {
    yield ['begin 1', ...lines]
  }
  const params = {
    realtime_processing: { ...none, ...requested },
    post_processing: { summarization: false },
  }
  const options = { format, speakerAt, hasServices: false }
  return collectAddOnResults(readLog, params, options)
}

test('results of all utterances are sorted by start, with total times', async () => {
  const results = [3, 1].map((start) => ({ named_entity_recognition: found(start, start + 1) }))
  const responses = await responsesOf(results, { requested: { named_entity_recognition: true } })
  assert.deepEqual(responses, {
    named_entity_recognition: { ...found(1, 2, 3, 4), exec_time: 0.5 },
  })
})

test('results of equal start are sorted by channel', async () => {
  const envelope = (mark: string) => ({ ...found(), results: [{ start: 1, mark }] })
  const results = ['b', 'a'].map((mark) => ({ named_entity_recognition: envelope(mark) }))
  const requested = { named_entity_recognition: true }
  const responses = await responsesOf(results, { requested, channelOf: (number) => 1 - number })
  assert.deepEqual(
    responses.named_entity_recognition!.results,
    ['a', 'b'].map((mark) => ({ start: 1, mark })),
  )
})

test('sentiment results are a string, or native if so configured', async () => {
  const results = [{ sentiment_analysis: found(1) }]
  const requested = { sentiment_analysis: true }
  const [text, native] = [
    await responsesOf(results, { requested }),
    await responsesOf(results, { requested, format: 'native' }),
  ]
  assert.equal(text.sentiment_analysis!.results, '[{"start":1}]')
  assert.deepEqual(native.sentiment_analysis!.results, [{ start: 1 }])
})

test('only requested add-ons have a result, also without utterances', async () => {
  const found = await responsesOf([], {
    requested: { sentiment_analysis: true, translation: true },
  })
  assert.deepEqual(Object.keys(found), ['translation', 'sentiment_analysis'])
  assert.equal(found.translation!.error?.exception, 'NotConfigured')
  const { success, is_empty, results } = found.sentiment_analysis!
  assert.deepEqual([success, is_empty, results], [true, true, '[]'])
})

test('an add-on failed if it failed on every utterance', async () => {
  const requested = { named_entity_recognition: true }
  const failure = { named_entity_recognition: failedEnvelope('named_entity_recognition', why) }
  const [some, all] = [
    await responsesOf([failure, { named_entity_recognition: found(1) }], { requested }),
    await responsesOf([failure, failure], { requested }),
  ]
  assert.equal(some.named_entity_recognition!.success, true)
  const { success, error, results } = all.named_entity_recognition!
  assert.deepEqual([success, error, results], [false, why, null])
})

test('partial failures yield a warning, and a complete one its error', async () => {
  const requested = { sentiment_analysis: true }
  const failure = { sentiment_analysis: failedEnvelope('sentiment_analysis', why) }
  const success = { sentiment_analysis: found(1) }
  const warningsOf = async (...results: AddOnResults[]) => {
    return (await collect(results, { requested })).warnings
  }
  const warning = 'sentiment_analysis failed on 1 of 3 utterances: it broke down'
  assert.deepEqual(await warningsOf(success, failure, success), [warning])
  assert.deepEqual(await warningsOf(failure, failure), [])
  assert.deepEqual(await warningsOf(success, success), [])
})

test('sentiment results get the final speaker', async () => {
  const sent = [
    { start: 1, end: 2, speaker: 0 },
    { start: 3, end: 4, speaker: 0 },
    { start: 5, end: 6 },
  ]
  const results = [{ sentiment_analysis: { ...found(), results: sent } }]
  const { sentiment_analysis } = await responsesOf(results, {
    requested: { sentiment_analysis: true },
    format: 'native',
    channelOf: () => 1,
    speakerAt: ({ channel, start }) => (start === 1 ? undefined : 10 * channel + start),
  })
  const speakers = (sentiment_analysis!.results as { speaker?: number }[]).map(
    ({ speaker }) => speaker,
  )
  assert.deepEqual(speakers, [0, 13, undefined])
})
