import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createLog } from '../../observability/log.ts'
import { failedEnvelope } from '../../text/result/steps/envelope.ts'
import { viewLiveUtterance } from '../../transcript/utterance-view.ts'
import { PartialTranslations } from './partial-translations.ts'
import type { UtteranceWithId } from './realtime-add-ons.ts'
import type { ServiceEnvelope } from './session-services.ts'

const usage = { requests: 1, prompt_tokens: 4, completion_tokens: 2 }
const made: ServiceEnvelope = {
  success: true,
  is_empty: false,
  exec_time: 0,
  error: null,
  results: [],
  usage,
}

function utteranceOf(id: string, text: string): UtteranceWithId {
  const words = text === '' ? [] : [{ text, start: 1, end: 2, confidence: 1 }]
  const utterance = { channel: 0, language: 'en', words }
  return { id, utterance: viewLiveUtterance(utterance, { start: 1, end: 2 }) }
}

/** A service that responds when the test says so, and what was requested and sent. */
function open() {
  const requests: { text: string; signal: AbortSignal; answer(envelope: ServiceEnvelope): void }[] =
    []
  const sent: string[] = []
  const leaving = new AbortController()
  const partials = new PartialTranslations({
    services: {
      translatePartial({ text }, signal) {
        const { promise, resolve, reject } = Promise.withResolvers<ServiceEnvelope>()
        signal.addEventListener('abort', () => reject(signal.reason))
        requests.push({ text: text.trim(), signal, answer: resolve })
        return promise
      },
    },
    send: ({ utterance }) => void sent.push(utterance.text.trim()),
    signal: leaving.signal,
    log: createLog('silent'),
  })
  return { partials, requests, sent, texts: () => requests.map(({ text }) => text) }
}

test('partials are translated one at a time, the latest of each utterance', async () => {
  const { partials, requests, sent, texts } = open()
  for (const text of ['', 'I', 'I would', 'I would like']) partials.offer(utteranceOf('a', text))
  partials.offer(utteranceOf('b', 'Yes'))
  assert.deepEqual(texts(), ['I'])
  requests[0]!.answer(made)
  await turn()
  assert.deepEqual([texts(), sent], [['I', 'I would like'], ['I']])
  partials.offer(utteranceOf('a', 'I would like'))
  requests[1]!.answer(made)
  await turn()
  assert.deepEqual(texts(), ['I', 'I would like', 'Yes'])
  requests[2]!.answer(made)
  await turn()
  assert.deepEqual(sent, ['I', 'I would like', 'Yes'])
  assert.deepEqual(partials.takeUsage(), {
    requests: 3,
    prompt_tokens: 12,
    completion_tokens: 6,
  })
  assert.equal(partials.takeUsage(), undefined)
})

test('a final cancels the translation of its partials only', async () => {
  const { partials, requests, sent, texts } = open()
  partials.offer(utteranceOf('a', 'I'))
  partials.offer(utteranceOf('a', 'I would'))
  partials.offer(utteranceOf('b', 'Yes'))
  partials.drop('a')
  assert.ok(requests[0]!.signal.aborted)
  await turn()
  assert.deepEqual(texts(), ['I', 'Yes'])
  requests[1]!.answer(made)
  await turn()
  assert.deepEqual(sent, ['Yes'])
})

test('an utterance whose translation failed is skipped, and the end cancels all', async () => {
  const { partials, requests, sent, texts } = open()
  const error = { status_code: 429, exception: 'ServiceFailed', message: 'too many' }
  partials.offer(utteranceOf('a', 'I'))
  partials.offer(utteranceOf('a', 'I would'))
  requests[0]!.answer(failedEnvelope('translation', error))
  await turn()
  partials.offer(utteranceOf('a', 'I would like'))
  assert.deepEqual(texts(), ['I'])
  partials.offer(utteranceOf('b', 'Yes'))
  partials.end()
  assert.ok(requests[1]!.signal.aborted)
  partials.offer(utteranceOf('c', 'No'))
  await turn()
  assert.deepEqual([texts(), sent], [['I', 'Yes'], []])
})

test('open utterances of several channels do not affect each other', async () => {
  const { partials, requests, texts } = open()
  const error = { status_code: 429, exception: 'ServiceFailed', message: 'too many' }
  for (const [id, text] of [
    ['a', 'I'],
    ['b', 'Yes'],
  ] as const) {
    partials.offer(utteranceOf(id, text))
    requests.at(-1)!.answer(made)
    await turn()
  }
  partials.offer(utteranceOf('a', 'I'))
  assert.deepEqual(texts(), ['I', 'Yes'], 'an unchanged text is not translated again')
  for (const id of ['a', 'b']) {
    partials.offer(utteranceOf(id, 'Well'))
    requests.at(-1)!.answer(failedEnvelope('translation', error))
    await turn()
  }
  partials.offer(utteranceOf('a', 'Well then'))
  assert.deepEqual(texts(), ['I', 'Yes', 'Well', 'Well'], 'a failed one is skipped')
})
