import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import fc from 'fast-check'
import { SHORT_BYTES } from '../src/api/bodies/bodies.ts'
import { call, type ErrorBody } from '../test/http-client.ts'
import { startServer } from '../test/start-server.ts'
import { fuzz } from './run.ts'

/**
 * How long the loop may be held, in milliseconds. The client is in this process too, and a garbage collection of the
 * threads beside it may take a core: a body that is read on the loop takes half a second and more.
 */
const MAX_HELD_MS = 250

/** Requests at a time: each turn of the loop may have one step of each. */
const AT_ONCE = 8

const server = await startServer({
  env: { STENO_UNKNOWN_FIELDS: 'reject', STENO_MAX_QUEUED_JOBS: '1000000' },
})

/** Values that are cheap to send and dear to read. */
const values = fc.constantFrom<unknown>(
  ...['x', '', '\ud800\u0000', 'x'.repeat(400), 0, 1e-300, -1, null, true, [], {}, [[]]],
  ...[{ value: 'x' }, { value: 'x', pronunciations: ['y', 1] }, { a: { b: [1] } }],
)

/** Where lists, maps and texts stand in a request. */
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

const body = fc
  .record({ value: values, count: fc.integer({ min: 1000, max: 150_000 }), place: fc.nat(99) })
  .map(({ value, count, place }) => {
    const unit = JSON.stringify(value).length + 9
    const fitting = Math.min(count, Math.floor(1_000_000 / unit))
    const list = Array(fitting).fill(value)
    const map = Object.fromEntries(list.map((own, i) => [`k${i}`, own]))
    const text = 'x'.repeat(count)
    const fields = places[place % places.length]!({ list, map, text })
    return fields
  })

const paths = fc.constantFrom('/v2/pre-recorded', '/v2/live', '/v2/upload', '/v2/deliveries/resend')
const headers = { 'content-type': 'application/json' }

// The first long body starts the thread.
await call(server, '/v2/live', {
  method: 'POST',
  headers,
  body: `{"x":"${'x'.repeat(SHORT_BYTES)}"}`,
})
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

await fuzz('bodies', fc.tuple(paths, body), async ([path, fields]) => {
  // Where nobody listens: what is well formed is fetched.
  const audio = path === '/v2/pre-recorded' ? { audio_url: 'http://127.0.0.1:9/' } : {}
  const text = JSON.stringify({ ...audio, ...fields })
  delay.reset()
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, () => {
      return call<ErrorBody>(server, path, { method: 'POST', headers, body: text })
    }),
  )
  for (const { status, body } of answers) {
    assert.ok([201, 400, 413, 422, 429].includes(status), `answered ${status}`)
    assert.ok(JSON.stringify(body).length < 100_000)
  }
  const held = delay.max / 1e6
  assert.ok(held < MAX_HELD_MS, `the loop was held for ${held} ms`)
})
await server.close()
