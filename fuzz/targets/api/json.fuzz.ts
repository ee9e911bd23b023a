import assert from 'node:assert/strict'
import fc from 'fast-check'
import { validateFields } from '../../../src/api/bodies/validation/validate-fields.ts'
import { preRecordedRequest } from '../../../src/api/schemas/jobs/pre-recorded-request.ts'
import { AppError } from '../../../src/errors.ts'
import { ownHeaders, requestRaw } from '../../../test/support/api/hostile-requests.ts'
import { createToneWav } from '../../../test/support/audio/recordings.ts'
import { upload } from '../../../test/support/net/http-client.ts'
import { startServer } from '../../../test/support/server/start-server.ts'
import { mutated } from '../../mutations.ts'
import { fuzz } from '../../run.ts'

type Json = Record<string, unknown>

const server = await startServer({ env: { STENO_ALLOW_PRIVATE_NETWORK: '' } })
const audio_url = await upload(server, createToneWav(0.1))

const seeds: Json[] = [
  { audio_url },
  {
    audio_url,
    language_config: { languages: ['en', 'fr'], code_switching: true },
    diarization: true,
    diarization_config: { min_speakers: 1, max_speakers: 4, number_of_speakers: 2 },
    translation: true,
    translation_config: { target_languages: ['fr'], context: 'x' },
    subtitles: true,
    subtitles_config: { formats: ['srt', 'vtt'], maximum_duration: 5, minimum_duration: 1 },
    custom_metadata: { team: 'red', deep: { a: [1, { b: null }] } },
  },
  {
    audio_url,
    model: 'stt-1',
    custom_vocabulary: ['word', { value: 'other', intensity: 0.4, pronunciations: ['oth'] }],
    custom_vocabulary_config: { vocabulary: ['a'], default_intensity: 0.1 },
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { SQL: ['sequel'] } },
    audio_to_llm: true,
    audio_to_llm_config: { prompts: ['Who?', ['a', 'b']], model: 'm' },
    pii_redaction: false,
    pii_redaction_config: { entity_types: ['NAME'], processed_text_type: 'MASK' },
    callback: true,
    callback_config: { url: 'https://a.example/', method: 'PUT' },
    language: 'en',
    code_switching_config: { languages: ['de'] },
  },
]

/** Every object and list of a value, itself included. */
function containers(value: unknown): (Json | unknown[])[] {
  if (typeof value !== 'object' || value === null) return []
  return [value as Json, ...Object.values(value).flatMap(containers)]
}

const names = ['__proto__', 'constructor', 'toString', 'length', '0', '', 'a.b', 'x'.repeat(300)]

/** A seed with some values replaced and some keys added. */
const restructured = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(
      fc.tuple(fc.nat(99), fc.nat(99), fc.oneof(fc.jsonValue(), fc.constantFrom(...names))),
      {
        maxLength: 6,
      },
    ),
  )
  .map(([seed, changes]) => {
    const body = structuredClone(seed)
    for (const [where, which, value] of changes) {
      const all = containers(body)
      const container = all[where % all.length] as Json
      const keys = [...Object.keys(container), ...(Array.isArray(container) ? ['0'] : names)]
      const key = keys[which % keys.length]!
      Object.defineProperty(container, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return Buffer.from(JSON.stringify(body))
  })

const schema = preRecordedRequest(server.app.config)
const untouched = JSON.stringify(Object.getOwnPropertyNames(Object.prototype))

/** Validates a body; returns undefined if it is not a JSON object. */
function read(bytes: Buffer): Json | undefined {
  try {
    const { value, errors } = validateFields(
      schema,
      JSON.parse(bytes.toString()),
      server.app.config.requests,
    )
    for (const { path, rule } of errors)
      assert.match(`${path.length} ${rule}`, /^[1-9]\d* (must |is req)/)
    return value
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    assert.ok(error instanceof AppError && error.status < 500, String(error))
    return undefined
  } finally {
    assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), untouched)
  }
}

async function send(body: Buffer): Promise<void> {
  const head = `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  const start = `POST /v2/pre-recorded HTTP/1.1\r\n${ownHeaders(server)}`
  const { status } = await requestRaw(server, `${start}${head}${body.toString('latin1')}`)
  assert.ok([201, 400, 413, 422, 429].includes(status), `answered ${status}`)
}

await fuzz(
  'json',
  fc.oneof(mutated(seeds.map((seed) => Buffer.from(JSON.stringify(seed)))), restructured),
  async (body) => {
    const { audio_url: address } = read(body) ?? {}
    // A well-formed URL would be fetched, so only this server's own are sent.
    if (typeof address === 'string' && URL.parse(address)?.origin !== new URL(server.url).origin)
      return
    await send(body)
  },
)
await server.close()
