import assert from 'node:assert/strict'
import test from 'node:test'
import { deltaOf, eventOf, eventsOf } from '../../../test/support/llm/chat-provider.ts'
import { createResponseReader } from './response-reader.ts'

/** Reads chunks until the reader has enough; returns what each was, and the response. */
function read(chunks: Iterable<string>, { maxChars = 1000, awaitsUsage = true } = {}) {
  const reader = createResponseReader({ maxChars, awaitsUsage })
  const readings: unknown[] = []
  for (const chunk of chunks) {
    const reading = reader.read(chunk)
    readings.push(typeof reading === 'object' ? reading.problem : reading)
    if (reading === 'done' || typeof reading === 'object') break
  }
  reader.read('\n')
  return { readings, ...reader.response() } as {
    readings: unknown[]
    problem?: string
    content?: string
    isWhole?: boolean
    isCut?: boolean
    reasoningChars?: number
    usage?: object
  }
}

const finish = (finish_reason: string) => deltaOf('', { finish_reason })
const usage = { prompt_tokens: 3, completion_tokens: 2 }

test('a stream ends with its usage, and only text counts as progress', () => {
  const { readings, content, isWhole, usage } = read(eventsOf('Hello Lena'))
  assert.deepEqual([content, isWhole], ['Hello Lena', true])
  assert.deepEqual(usage, { prompt_tokens: 100, completion_tokens: 10 })
  const texts = ['progress', 'progress', 'progress']
  assert.deepEqual(readings, ['waiting', ...texts, 'waiting', 'done'])
})

test('a stream is parsed for any chunk sizes and line endings', () => {
  const whole = eventsOf('Grüße 👋 für Lena').join('')
  for (const text of [whole, whole.replaceAll('\n', '\r\n'), whole.replaceAll('\n\n', '\n')]) {
    for (const size of [1, 7, 10_000]) {
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, 'g'))!
      assert.equal(read([' \n', ...chunks]).content, 'Grüße 👋 für Lena', `${size}`)
    }
  }
})

test('Unicode line separators are part of the text', () => {
  const text = 'did not\u2028 buy\u2029 it\u0085'
  assert.equal(read([deltaOf('We '), deltaOf(text), ...eventsOf('.')]).content, `We ${text}.`)
})

test('comments, unknown fields and empty events are ignored', () => {
  const chunks = [
    ': processing\n\n',
    'id: 7\nretry: 10\nevent: chunk\n',
    deltaOf('a'),
    deltaOf('other', { index: 1 }),
    eventOf('[]'),
    eventOf({ choices: [] }),
    eventOf({ choices: [null] }),
    eventOf({ choices: [{ delta: { content: 7 } }] }),
    'data:\n\n',
    deltaOf('b', { finish_reason: '' }),
    deltaOf('', { finish_reason: 'stop' }),
    eventOf({ usage }),
  ]
  const { readings, content } = read(chunks)
  assert.equal(content, 'ab')
  assert.equal(readings.filter((reading) => reading === 'progress').length, 2)
  assert.equal(readings.length, chunks.length)
})

test('a stream is complete with [DONE] or a finish reason', () => {
  assert.equal(read([deltaOf('Hello')]).isWhole, false)
  assert.equal(read([deltaOf('Hello'), finish('stop')]).isWhole, true)
  assert.equal(read([deltaOf('Hello'), 'data: [DONE]']).isWhole, true)
  assert.equal(read([deltaOf('Hello'), finish('stop')]).isCut, false)
  assert.equal(read([deltaOf('Hello'), finish('length')]).isCut, true)
  assert.equal(read([deltaOf('Hello'), finish('content_filter')]).isCut, true)
  const unasked = read([deltaOf('Hello'), finish('stop'), 'more'], { awaitsUsage: false })
  assert.deepEqual(unasked.readings, ['progress', 'done'])
})

test('errors, invalid JSON and overlong lines in a stream are reported', () => {
  const error = 'the language model ended its answer with an error'
  const noJson = 'the answer of the language model is not JSON'
  const large = 'the answer of the language model is too large'
  const given: [chunks: Iterable<string>, problem: string][] = [
    [[deltaOf('a'), eventOf({ error: { message: 'secret' } }), eventOf('[DONE]')], error],
    [[deltaOf('a'), eventOf({ object: 'error', message: 'secret' })], error],
    [[deltaOf('a'), 'event: error\n', eventOf('overloaded')], error],
    [[deltaOf('a'), eventOf('garbage')], noJson],
    [[deltaOf('a'), 'data: {"choices":'], noJson],
    [['{"error":{"message":"secret"}}'], error],
    [['<html>', 'nothing'], noJson],
    [[''], noJson],
    [['data: ', ...Array<string>(5).fill('x'.repeat(65_536))], large],
    [Array<string>(300).fill(`: ${'x'.repeat(65_536)}\n`), large],
    [['{', ...Array<string>(20).fill(' '.repeat(65_536))], large],
  ]
  for (const [chunks, problem] of given) assert.equal(read(chunks).problem, problem)
})

test('endless answers are stopped, also of blanks or reasoning', () => {
  const endless = (text: string) => Array<string>(2000).fill(deltaOf(text))
  const thought = eventOf({ choices: [{ delta: { reasoning_content: 'hm, hm' } }] })
  const given: [chunks: string[], events: number][] = [
    [endless('ten letter'), 101],
    [
      ['<think>', ...endless('ten letter')].map((one) => (one === '<think>' ? deltaOf(one) : one)),
      501,
    ],
    [Array<string>(2000).fill(thought), 834],
    [[deltaOf('{"a":'), ...endless('\n\n')], 252],
  ]
  for (const [chunks, events] of given) {
    const { readings, isCut, isWhole } = read(chunks)
    assert.deepEqual([readings.length, isCut, isWhole], [events, true, true])
  }
  const blanks = read([...endless('\n').slice(0, 400), deltaOf('a'), ...endless(' ').slice(0, 400)])
  assert.equal(blanks.isWhole, false)
})

test('an answer without streaming is read as one JSON document', () => {
  const message = { content: 'Hello' }
  const text = JSON.stringify({ choices: [{ message, finish_reason: 'length' }], usage })
  const response = read([`\n${text.slice(0, 20)}`, text.slice(20)])
  assert.deepEqual([response.content, response.isCut, response.isWhole], ['Hello', true, true])
  assert.deepEqual([response.usage, response.readings], [usage, ['waiting', 'waiting']])
})

test('a message without text still counts its tokens, and one in parts has the text of them', () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Hello' },
    { type: 'text', text: ' Lena' },
  ]
  const given: [message: object, content: string, reasoningChars: number][] = [
    [{ content: null, refusal: 'no' }, '', 0],
    [{ content: null, reasoning_content: 'hm' }, '', 2],
    [{ content: parts }, 'Hello Lena', 0],
  ]
  for (const [message, content, reasoningChars] of given) {
    const whole = JSON.stringify({ choices: [{ message }], usage })
    const pieces = [eventOf({ choices: [{ delta: message }] }), eventOf({ usage }), 'data: [DONE]']
    for (const chunks of [[whole], pieces]) {
      const response = read(chunks)
      assert.deepEqual([response.content, response.reasoningChars], [content, reasoningChars])
      assert.deepEqual(response.usage, usage)
    }
  }
  assert.match(read(['{}']).problem!, /returned no text/)
})
