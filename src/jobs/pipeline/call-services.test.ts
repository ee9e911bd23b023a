import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import { type EndedJob, openService } from '../../../test/support/jobs/test-service.ts'
import { captureLog } from '../../../test/support/server/captured-log.ts'
import { createLog } from '../../observability/log.ts'
import { findJob } from '../../storage/jobs/jobs.ts'
import { AddOnFailedError } from '../../text/result/steps/envelope.ts'
import type { ServiceRequests } from '../../text/result/steps/run-service-add-on.ts'
import type { ServiceRequest, Services } from '../../text/service-add-ons/service-add-on.ts'
import { callServices, type ResponseStore } from './call-services.ts'

const resultThread = new URL(
  '../../../test/support/text/service-add-ons-thread.ts',
  import.meta.url,
)
const log = createLog('silent')
const account = 'acme'
const served = { translation: 'all', audio_to_llm: 'all' } as const

function storeResponses(): ResponseStore {
  const known = new Map<string, unknown>()
  return {
    find: (key) => known.get(key),
    append: async (key, response) => void known.set(key, response),
  }
}

function ask(name: string, ...texts: string[]): ServiceRequests {
  const requests = texts.map((text) => ({ service: 'echo', model: 'tiny', text }))
  return { name, seconds: 0, requests }
}

/** Services that respond with the text in capitals, after `onCall`. */
function echo(onCall: (text: string) => unknown = () => {}) {
  const calls: string[] = []
  const services: Services = {
    addOns: {},
    async call(request) {
      const text = request.text as string
      calls.push(text)
      await onCall(text)
      return text.toUpperCase()
    },
  }
  return { services, calls }
}

test('answers are in the order of the requests, and equal requests are sent once', async () => {
  const { services, calls } = echo(async (text) => {
    if (text === 'a') await setImmediate()
  })
  const { signal } = new AbortController()
  const options = { account, job: 'j', signal, responses: storeResponses(), log }
  const prepared = [ask('one', 'a', 'b', 'a'), ask('two', 'b'), ask('none')]
  const answered = await callServices(services, prepared, options)
  assert.deepEqual(
    answered.map((one) => ('responses' in one ? [one.name, ...one.responses] : one)),
    [['one', 'A', 'B', 'A'], ['two', 'B'], ['none']],
  )
  assert.deepEqual(calls, ['a', 'b'])
})

test('progress is the fraction of answered requests, including stored ones', async () => {
  const { signal } = new AbortController()
  const reported: number[] = []
  const onProgress = (fraction: number) => void reported.push(fraction)
  const options = { account, job: 'j', signal, responses: storeResponses(), log, onProgress }
  const prepared = [ask('one', 'a', 'b'), ask('two', 'b'), ask('none'), ask('three', 'c', 'd')]
  await callServices(echo().services, prepared, options)
  assert.deepEqual(reported, [0.2, 0.4, 0.6, 0.8, 1])
})

test('four service requests run at a time', async () => {
  let running = 0
  let most = 0
  const { services } = echo(async () => {
    most = Math.max(most, ++running)
    await setImmediate()
    running--
  })
  const { signal } = new AbortController()
  const options = { account, job: 'j', signal, responses: storeResponses(), log }
  await callServices(services, [ask('one', ...'abcdefghij')], options)
  assert.equal(most, 4)
})

test('a failed call fails only its add-on, and its cause is not exposed', async () => {
  const { services } = echo((text) => {
    if (text === 'bad') throw new TypeError('key sesame is wrong')
    if (text !== 'long') return
    throw new AddOnFailedError({ status_code: 413, exception: 'TooLong', message: 'too long' })
  })
  const { log, lines } = captureLog()
  const { signal } = new AbortController()
  const options = { account, job: 'j', signal, responses: storeResponses(), log }
  const prepared = [ask('one', 'good', 'bad'), ask('two', 'long'), ask('three', 'good')]
  const [one, two, three] = await callServices(services, prepared, options)
  assert.ok(one && 'error' in one && two && 'error' in two && three && 'responses' in three)
  const message = 'the service that one needs failed or cannot be reached'
  assert.deepEqual(one.error, { status_code: 502, exception: 'ServiceFailed', message })
  assert.equal(two.error.exception, 'TooLong')
  assert.deepEqual(three.responses, ['GOOD'])
  assert.equal(lines[0]!.error, 'TypeError')
  assert.ok(!JSON.stringify(lines).includes('sesame'))
})

test('aborts and storage errors are not failures of an add-on', async () => {
  const stop = new AbortController()
  const stopped = echo(() => {
    stop.abort(new Error('stopped'))
    throw new Error('aborted')
  })
  const options = { account, job: 'j', signal: stop.signal, responses: storeResponses(), log }
  await assert.rejects(callServices(stopped.services, [ask('one', 'a')], options), /stopped/)
  const responses: ResponseStore = {
    find: () => undefined,
    append: () => Promise.reject(new Error('disk full')),
  }
  const { signal } = new AbortController()
  const full = { ...options, signal, responses }
  await assert.rejects(callServices(echo().services, [ask('one', 'a')], full), /disk full/)
  const inParts: Services = {
    addOns: {},
    call: ({ text }, { memoize }) => memoize({ part: 1, text }, async () => 'a part'),
  }
  await assert.rejects(callServices(inParts, [ask('one', 'a')], full), /disk full/)
})

type Result = Record<string, { error: { exception: string } | null; results: unknown }>

function resultOf({ status, result }: EndedJob): Result {
  assert.equal(status, 'done')
  return result as unknown as Result
}

async function runJob(
  t: TestContext,
  { call, words = 'hello world' }: { call: Services['call']; words?: string },
  params: Record<string, unknown>,
) {
  const speech = createFakeSpeechEngine(words)
  const service = await openService(t, { speech, services: { addOns: served, call }, resultThread })
  await service.jobs.start()
  const id = await service.submit({ seconds: 4 }, { params })
  return { service, id, job: await service.ended(id) }
}

test('the result of a job contains the answers of its services', async (t) => {
  const requests: ServiceRequest[] = []
  const call: Services['call'] = async (request, options) => {
    requests.push(request)
    assert.equal(options.account, account)
    return 'salut monde'
  }
  const { job } = await runJob(t, { call }, { translation: true })
  const { translation } = resultOf(job)
  assert.deepEqual(
    requests.map(({ text }) => text),
    ['hello world'],
  )
  const results = { responses: ['salut monde'], utterances: 1, format: 'string' }
  assert.deepEqual(translation!.results, results)
})

test('services receive no redacted text', async (t) => {
  const requests: ServiceRequest[] = []
  const call: Services['call'] = async (request) => {
    requests.push(request)
    return 'ok'
  }
  const words = 'mail zofia@posteo.de now'
  const { job } = await runJob(t, { call, words }, { translation: true, pii_redaction: true })
  assert.equal(resultOf(job).translation!.error, null)
  assert.equal(requests.length, 1)
  assert.match(JSON.stringify(requests), /mail/i)
  assert.doesNotMatch(JSON.stringify(requests), /zofia|posteo/i)
})

test('a failed service call does not fail the job, and can be retried', async (t) => {
  let isDown = true
  const call: Services['call'] = async () => {
    if (isDown) throw new Error('down')
    return 'salut'
  }
  const { job, id, service } = await runJob(t, { call }, { translation: true, sentences: true })
  const { translation, sentences } = resultOf(job)
  assert.equal(translation!.error!.exception, 'ServiceFailed')
  assert.equal(sentences!.error, null)
  isDown = false
  await service.jobs.service.retryAddOn({ account, id, name: 'translation' })
  assert.equal(resultOf(await service.ended(id)).translation!.error, null)
})

test('a stored answer is not requested again by the next attempt', async (t) => {
  const calls: unknown[] = []
  const held = Promise.withResolvers<void>()
  const call: Services['call'] = async ({ service }, { signal }) => {
    calls.push(service)
    if (service === 'language model' && calls.length === 2) {
      held.resolve()
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('gone')))
      })
    }
    return 'salut'
  }
  const params = { translation: true, audio_to_llm: true }
  const first = await openService(t, {
    services: { addOns: served, call },
    resultThread,
    graceMs: 0,
  })
  await first.jobs.start()
  const id = await first.submit({ seconds: 4 }, { params })
  await held.promise
  await first.close()
  const { folder } = first
  const second = await openService(t, { services: { addOns: served, call }, resultThread, folder })
  await second.jobs.start()
  const { translation, audio_to_llm } = resultOf(await second.ended(id))
  assert.deepEqual([translation!.error, audio_to_llm!.error], [null, null])
  assert.deepEqual(calls, ['translation', 'language model', 'language model'])
})

test('a job that waits for its services occupies no slot', async (t) => {
  const ended = Promise.withResolvers<void>()
  const called = Promise.withResolvers<void>()
  let calls = 0
  const call: Services['call'] = async () => {
    if (++calls === 2) called.resolve()
    await ended.promise
    return 'salut'
  }
  const service = await openService(t, { services: { addOns: served, call }, resultThread })
  await service.jobs.start()
  const params = { translation: true }
  const slow = [
    await service.submit({ seconds: 4 }, { params }),
    await service.submit({ seconds: 4 }, { params }),
  ]
  await called.promise
  const done = await service.submit({ seconds: 4 })
  const { db } = service.storage
  const statusOf = async (id: string) => (await findJob(db, { id, account }))?.status
  while ((await statusOf(done)) !== 'done') await delay(10)
  assert.equal(await statusOf(slow[0]!), 'processing')
  ended.resolve()
  for (const id of slow) assert.equal(resultOf(await service.ended(id)).translation!.error, null)
})
