import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { readConfig } from '../../config/config.ts'
import { createLog } from '../../observability/log.ts'
import { BodyReader, SHORT_BYTES } from './body-reader.ts'

function open(t: TestContext) {
  const bodies = new BodyReader({ config: readConfig({}), log: createLog('silent') })
  t.after(() => bodies.close())
  return (account: string, body: unknown) => bodies.read('pre-recorded', { account, body })
}

/** Returns a body of the given length, padded in an unknown field. */
function bodyOf(bytes: number): Buffer {
  const start = '{"audio_url":"https://a.example/","x":"'
  return Buffer.from(`${start}${'x'.repeat(bytes - start.length - 2)}"}`)
}

/** Counts what this thread parses during `work`. */
async function parsedHere(t: TestContext, work: () => Promise<unknown>): Promise<number> {
  const { mock } = t.mock.method(JSON, 'parse')
  await work()
  mock.restore()
  return mock.callCount()
}

test('long bodies are parsed in a thread and short ones on the event loop', async (t) => {
  const read = open(t)
  assert.equal(await parsedHere(t, () => read('a', bodyOf(SHORT_BYTES))), 1)
  assert.equal(await parsedHere(t, () => read('a', bodyOf(SHORT_BYTES + 1))), 0)
})

test('bodies parsed in the thread and on the event loop give equal results', async (t) => {
  const read = open(t)
  const { paramsText } = await read('a', bodyOf(100))
  assert.equal((await read('a', bodyOf(SHORT_BYTES + 1))).paramsText, paramsText)
})

test('long bodies of one account are read one at a time, beside those of others', async (t) => {
  const read = open(t)
  const order: string[] = []
  const note = (account: string) => {
    return read(account, bodyOf(100_000)).then(() => order.push(account))
  }
  await Promise.all([...Array.from({ length: 10 }, () => note('a')), note('b')])
  assert.ok(order.indexOf('b') <= 1, order.join(' '))
})

test('each account may queue a limited number of long bodies before it is refused', async (t) => {
  const read = open(t)
  const requested = Array.from({ length: 130 }, () => read('a', bodyOf(20_000)))
  const other = read('b', bodyOf(20_000))
  const outcomes = await Promise.allSettled(requested)
  const refused = outcomes.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 2)
  assert.deepEqual((refused[0] as PromiseRejectedResult).reason.code, 'rate_limited')
  await other
  await read('a', bodyOf(20_000))
})

test('a request without a body is refused', async (t) => {
  await assert.rejects(open(t)('a', undefined), { code: 'content_type_unsupported' })
})
