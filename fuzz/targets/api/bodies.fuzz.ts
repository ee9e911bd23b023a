import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SHORT_BYTES } from '../../../src/api/bodies/body-reader.ts'
import { startServer } from '../../../test/support/server/start-server.ts'
import { fuzz } from '../../run.ts'

/**
 * Maximum processor time of a request in the main thread, client included, in milliseconds; a body
 * that is parsed there takes fifty to five hundred.
 */
const MAX_COST_MS = 30

/** Requests at a time. */
const AT_ONCE = 8

const server = await startServer({
  env: { STENO_UNKNOWN_FIELDS: 'reject', STENO_MAX_QUEUED_JOBS: '1000000' },
})

/** Values that are cheap to send and expensive to read. */
const values = fc.constantFrom<unknown>(
  ...['x', '', '\ud800\u0000', 'x'.repeat(400), 0, 1e-300, -1, null, true, [], {}, [[]]],
  ...[{ value: 'x' }, { value: 'x', pronunciations: ['y', 1] }, { a: { b: [1] } }],
)

/** Requests with a large list, map or text in each place. */
const places: ((large: { list: unknown[]; map: object; text: string }) => object)[] = [
  ({ list }) => ({ language_config: { languages: list } }),
  ({ list }) => ({ code_switching_config: { languages: list } }),
  ({ list }) => ({ custom_vocabulary: list }),
  ({ list, map }) => ({ custom_vocabulary_config: { vocabulary: list, ...map } }),
  ({ map }) => ({ custom_spelling_config: { spelling_dictionary: map } }),
  ({ list }) => ({ custom_spelling_config: { spelling_dictionary: { a: list } } }),
  ({ list }) => ({ custom_vocabulary: [{ value: 'a', pronunciations: list }] }),
  ({ list, text }) => ({ audio_to_llm_config: { prompts: [list], model: text } }),
  ({ list }) => ({ pii_redaction_config: { entity_types: list } }),
  ({ list }) => ({ subtitles_config: { formats: list } }),
  ({ list, text }) => ({ translation_config: { target_languages: list, context: text } }),
  ({ list }) => ({ structured_data_extraction_config: { classes: list } }),
  ({ map }) => ({ custom_metadata: map }),
  ({ map }) => map,
  ({ list, text }) => ({ context_prompt: list, language: text, callback_url: text }),
]

/** What to send; a counterexample is printed, so it is built only for the request. */
const requested = fc.record({
  path: fc.constantFrom('/v2/pre-recorded', '/v2/live', '/v2/upload', '/v2/deliveries/resend'),
  value: values,
  count: fc.integer({ min: 1000, max: 150_000 }),
  place: fc.nat(places.length - 1),
})

function bodyOf({
  path,
  value,
  count,
  place,
}: typeof requested extends fc.Arbitrary<infer T> ? T : never) {
  const unit = JSON.stringify(value).length + 9
  const list = Array(Math.min(count, Math.floor(1_000_000 / unit))).fill(value)
  const map = Object.fromEntries(list.map((item, i) => [`k${i}`, item]))
  const fields = places[place]!({ list, map, text: 'x'.repeat(count) })
  // A closed port: well-formed URLs are fetched.
  const audio = path === '/v2/pre-recorded' ? { audio_url: 'http://127.0.0.1:9/' } : {}
  return Buffer.from(JSON.stringify({ ...audio, ...fields }))
}

async function send(path: string, body: Buffer<ArrayBuffer>): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-service-key': server.key }
  const { status, ...answer } = await post(server.url + path, { method: 'POST', headers, body })
  assert.ok([201, 400, 413, 422, 429].includes(status), `answered ${status}`)
  assert.ok(answer.text.length < 100_000)
}

async function post(url: string, init: RequestInit) {
  const response = await fetch(url, init)
  return { status: response.status, text: await response.text() }
}

// The first long body starts the thread.
await send('/v2/live', Buffer.from(`{"x":"${'x'.repeat(SHORT_BYTES)}"}`))

await fuzz('bodies', requested, async (one) => {
  const body = bodyOf(one)
  const before = process.threadCpuUsage()
  await Promise.all(Array.from({ length: AT_ONCE }, () => send(one.path, body)))
  const { user, system } = process.threadCpuUsage(before)
  const cost = (user + system) / 1000 / AT_ONCE
  assert.ok(cost < MAX_COST_MS, `a request took ${cost} ms of the loop`)
})
await server.close()
