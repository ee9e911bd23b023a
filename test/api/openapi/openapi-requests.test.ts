import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type JsonSchema, valuesOf } from '../../support/api/schema-values.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, type ErrorBody, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type Fields = Record<string, unknown>

const paths = ['/v2/pre-recorded', '/v2/live'] as const
type Path = (typeof paths)[number]

let server: TestServer
let audioUrl: string
let bodies: Record<Path, fc.Arbitrary<Fields>>

before(async () => {
  const env = {
    STENO_RATE_LIMIT: '0',
    STENO_MAX_QUEUED_JOBS: '100000',
    STENO_MAX_LIVE_SESSIONS: '100000',
  }
  server = await startServer({ env })
  audioUrl = await upload(server, createToneWav(1))
  const { body } = await call<{ components: { schemas: Record<string, JsonSchema> } }>(
    server,
    '/openapi.json',
  )
  const { schemas } = body.components
  /** Nobody is called back. */
  const bodiesOf = (name: string) => {
    const request = valuesOf(schemas[name]!, { schemas }) as fc.Arbitrary<Fields>
    const uncalled = request.map(({ callback, callback_url, ...fields }): Fields => fields)
    return fc.boolean().chain((all) => (all ? uncalled : uncalled.map(withoutContradictions)))
  }
  bodies = {
    // The address is one that exists.
    '/v2/pre-recorded': bodiesOf('PreRecordedRequest').map((fields) => {
      return { ...fields, audio_url: audioUrl }
    }),
    '/v2/live': bodiesOf('LiveRequest'),
  }
})
after(() => server.close())

/**
 * Leaves out what random values rarely get right together: most bodies with these fields are
 * refused.
 */
function withoutContradictions(fields: Fields): Fields {
  const hard = /^(model|language|(diarization|subtitles|language|custom_vocabulary)_config)$/
  const kept = Object.entries(fields).filter(([name, value]) => !hard.test(name) && value !== true)
  return Object.fromEntries(
    kept.map(([name, value]) => {
      return [
        name,
        name === 'realtime_processing' ? withoutContradictions((value ?? {}) as Fields) : value,
      ]
    }),
  )
}

/** Sends a creation; `call` holds the answer to the description. */
function create(path: Path, json: unknown) {
  return call<ErrorBody>(server, path, { json })
}

for (const path of paths) {
  test(`a body valid for the schema of ${path} is accepted or rejected as documented`, async () => {
    const seen = new Set<number>()
    await fc.assert(
      fc.asyncProperty(bodies[path], async (fields) => {
        const { status, body } = await create(path, fields)
        seen.add(status)
        if (status === 201 || status === 422) return
        assert.equal(status, 400, JSON.stringify(body))
        for (const line of body.validation_errors ?? ['none']) assert.match(line, / is required$/)
      }),
      { numRuns: 60 },
    )
    assert.ok(seen.has(201), [...seen].join())
  })
}

const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('', -1, 1e308, '\u0000'))

for (const path of paths) {
  test(`a mutated body for ${path} is accepted or rejected without a server error`, async () => {
    const change = fc.record({ at: fc.nat(), deep: fc.boolean(), value: anything })
    const changes = fc.array(change, { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(bodies[path], changes, async (fields, all) => {
        for (const { at, deep, value } of all) {
          const names = Object.keys(fields)
          const name = names[at % names.length] ?? 'new'
          const field = fields[name]
          if (deep && typeof field === 'object' && field !== null) {
            const inner = Object.keys(field)
            Object.assign(field, { [inner[at % inner.length] ?? 'new']: value })
          } else fields[name] = value
        }
        const { status, body } = await create(path, fields)
        assert.ok([201, 400, 422].includes(status), JSON.stringify(body))
      }),
      { numRuns: 60 },
    )
  })
}
