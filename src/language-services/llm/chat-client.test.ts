import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { openChatModel } from '../../../test/support/llm/chat-model.ts'
import {
  type ChatCall,
  type ChatReply,
  deltaOf,
  eventOf,
  eventsOf,
} from '../../../test/support/llm/chat-provider.ts'
import { type FakeTimeouts, fakeTimeouts } from '../../../test/support/workers/fake-timeouts.ts'
import type { ChatRequest } from './chat-client.ts'

const asked: ChatRequest = {
  system: 'Be brief.',
  user: 'Who called?',
  maxTokens: 100,
  signal: new AbortController().signal,
}
const schema = { name: 'x', schema: { type: 'object' } }

async function open(
  t: TestContext,
  reply: (call: ChatCall, n: number) => ChatReply,
  options?: { timeout?: number; answerTimeout?: number },
) {
  const { options: opened, calls } = await openChatModel(t, reply, options)
  return { calls, complete: (more = {}) => opened.model.complete({ ...asked, ...more }) }
}

/** Returns which of stream, stream_options and response_format each request had. */
function mannersOf(calls: readonly ChatCall[]): string[] {
  return calls.map(({ stream, stream_options: options, response_format: format }) => {
    return `${stream ? 's' : ''}${options ? 'o' : ''}${format ? 'f' : ''}`
  })
}

test('an answer is streamed, with the token counts of the provider', async (t) => {
  const { calls, complete } = await open(t, () => 'Lena called.')
  const { text, usage, isCut } = await complete()
  assert.deepEqual([text, isCut], ['Lena called.', false])
  assert.deepEqual(usage, { requests: 1, prompt_tokens: 100, completion_tokens: 10 })
  assert.deepEqual(calls[0]!.stream_options, { include_usage: true })
})

/** Waits until a timeout was begun anew more often than before, if it is at all. */
async function untilRefreshed(timeouts: FakeTimeouts, before: number): Promise<void> {
  // What was written is there at once: its reader is in the same process.
  for (let turn = 0; turn < 1000 && timeouts.refreshed === before; turn++) await setImmediate()
}

test('each chunk extends the timeout', async (t) => {
  const timeouts = fakeTimeouts(t, 654_000)
  const words = 'one two three four five six seven eight'.split(' ')
  async function* slowly() {
    for (const [n, word] of words.entries()) {
      yield deltaOf(`${word} `)
      await untilRefreshed(timeouts, n)
    }
    yield eventOf('[DONE]')
  }
  const limits = { timeout: 654, answerTimeout: 60 }
  const { complete } = await open(t, () => ({ chunks: slowly() }), limits)
  assert.equal((await complete()).text, words.join(' '))
  assert.equal(timeouts.refreshed, words.length)
})

test('stalled, broken or overlong answers fail and are not retried', async (t) => {
  const idle = fakeTimeouts(t, 321_000)
  const whole = fakeTimeouts(t, 654_000)
  /** Writes a chunk and no more, and lets the time pass when it was read. */
  async function* once(chunk: string, { pass }: FakeTimeouts) {
    const before = idle.refreshed
    yield chunk
    await untilRefreshed(idle, before)
    pass()
    await new Promise(() => {})
  }
  const begun = [deltaOf('The beginning of')]
  const given: [reply: ChatReply, message: RegExp][] = [
    [{ chunks: once(begun[0]!, idle) }, /broke off its answer: its response stalled for 321 s/],
    [{ chunks: begun, ending: 'break' }, /broke off its answer: the connection broke off/],
    [{ chunks: begun, ending: 'end' }, /broke off its answer$/],
    [{ chunks: once(deltaOf('a'), whole) }, /broke off its answer: it took longer than 654 s/],
    [{ chunks: once(': wait\n\n', idle) }, /did not respond within 321 s/],
    [{ chunks: once(deltaOf(''), idle) }, /did not respond within 321 s/],
    [{ chunks: once('{"choices":', idle) }, /did not respond within 321 s/],
    [{ chunks: [deltaOf('a'), eventOf({ error: 'down' })] }, /ended its answer with an error/],
    [{ chunks: [deltaOf('a'), eventOf('{')] }, /is not JSON/],
  ]
  const limits = { timeout: 321, answerTimeout: 654 }
  const { calls, complete } = await open(t, (_call, n) => given[n - 1]![0], limits)
  for (const [, message] of given) await assert.rejects(complete(), { name: 'Error', message })
  assert.equal(calls.length, given.length)
})

test('an endless answer is cut, and the connection closed', async (t) => {
  const left = Promise.withResolvers<void>()
  function* endless() {
    try {
      for (;;) yield deltaOf('and so on ')
    } finally {
      left.resolve()
    }
  }
  const { complete } = await open(t, () => ({ chunks: endless() }))
  const { text, isCut, usage } = await complete()
  assert.ok(isCut && text.length === 1000, `${text.length}`)
  assert.ok(usage.completion_tokens >= 250)
  await left.promise
})

test('a complete answer is accepted whatever follows it', async (t) => {
  const whole = eventsOf('Lena.')
  const given: ChatReply[] = [
    { chunks: whole, ending: 'stall' },
    { chunks: whole, ending: 'break' },
    { chunks: whole.slice(0, -2), ending: 'break' },
    { chunks: whole, type: 'application/json' },
    { chunks: [deltaOf('Lena.'), 'data: [DONE]'] },
    { chunks: [JSON.stringify({ choices: [{ message: { content: 'Lena.' } }] })] },
  ]
  const { complete } = await open(t, (_call, n) => given[n - 1]!)
  for (const _ of given) assert.equal((await complete()).text, 'Lena.')
})

test('tokens that the provider does not count are estimated', async (t) => {
  const chunks = [deltaOf('Lena called twice.'), eventOf('[DONE]')]
  const { complete } = await open(t, () => ({ chunks }))
  const { usage } = await complete()
  assert.deepEqual(usage, { requests: 1, prompt_tokens: 7, completion_tokens: 6 })
})

test('unsupported stream options are omitted from the next request on', async (t) => {
  const named = await open(t, ({ stream_options: options }) => {
    return options ? { status: 422, body: '{"loc":["body","stream_options"]}' } : 'yes'
  })
  await named.complete({ schema })
  await named.complete({ schema })
  assert.deepEqual(mannersOf(named.calls), ['sof', 'sf', 'sf'])
  const unnamed = await open(t, ({ stream }) => (stream ? 400 : 'yes'))
  await unnamed.complete({ schema })
  await unnamed.complete({ schema })
  assert.deepEqual(mannersOf(unnamed.calls), ['sof', 'f', 'f'])
  const both = await open(t, ({ stream, response_format: format }) =>
    stream || format ? 400 : 'yes',
  )
  await both.complete({ schema })
  await both.complete({ schema })
  assert.deepEqual(mannersOf(both.calls), ['sof', 'f', 'so', '', ''])
})

test('supported options are remembered per model, and not dropped for a bad request', async (t) => {
  const { calls, complete } = await open(t, ({ model, stream, messages }) => {
    if (messages[1]!.content === 'bad') return 400
    return stream && model === 'large' ? 400 : 'yes'
  })
  await complete()
  await complete({ model: 'large' })
  await complete({ model: 'large' })
  await assert.rejects(complete({ user: 'bad' }), /refused the request with 400/)
  assert.deepEqual(mannersOf(calls), ['so', 'so', '', '', 'so'])
})

test('a prompt that is too long is reported and not retried', async (t) => {
  const refusals = [
    'request (6031 tokens) exceeds the available context size (4096 tokens), try increasing it',
    "This model's maximum context length is 4096 tokens. However, you requested 6031 tokens",
    '"code": "context_length_exceeded"',
  ]
  const { calls, complete } = await open(t, (_call, n) => ({ status: 400, body: refusals[n - 1]! }))
  for (const _ of refusals) {
    const message = 'the text is too long for the context of the language model'
    await assert.rejects(complete({ schema }), { message, status: 413 })
  }
  assert.equal(calls.length, refusals.length)
})

test('a reasoning model that uses up its tokens gets more from then on', async (t) => {
  const think = deltaOf('', { delta: { reasoning_content: 'Who was it? ' } })
  const cut = deltaOf('', { finish_reason: 'length' })
  const lost = [
    [think, cut],
    [deltaOf('<think>Who was it?'), cut],
  ]
  for (const chunks of lost) {
    const { calls, complete } = await open(t, ({ max_tokens: most }) => {
      return most < 1000 ? { chunks: [...chunks, eventOf('[DONE]')] } : 'Lena.'
    })
    const { text, isCut, usage } = await complete()
    assert.deepEqual([text, isCut, usage.requests], ['Lena.', false, 2])
    assert.equal((await complete()).usage.requests, 1)
    const room = 4096 - 100 - 3 - 4
    assert.deepEqual(
      calls.map((call) => call.max_tokens),
      [100, 100 + room, 100 + room],
    )
  }
})

test('without room for reasoning the cut answer is returned', async (t) => {
  const chunks = [deltaOf('<think>Who was it?', { finish_reason: 'length' }), eventOf('[DONE]')]
  const small = await open(t, ({ max_tokens: most }) => (most < 1000 ? { chunks } : 400))
  const { text, isCut } = await small.complete()
  assert.deepEqual([text, isCut, small.calls.length], ['', true, 2])
  const full = await open(t, () => ({ chunks }))
  await full.complete({ user: 'word '.repeat(3000) })
  assert.equal(full.calls.length, 1)
})

test('other cut answers are not requested again', async (t) => {
  const begun = [deltaOf('<think>Hm.</think>Lena'), deltaOf('', { finish_reason: 'length' })]
  const { calls, complete } = await open(t, () => ({ chunks: [...begun, eventOf('[DONE]')] }))
  assert.deepEqual((await complete()).text, 'Lena')
  assert.equal(calls.length, 1)
})
