import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type Parameter = { in: string; name: string; required: boolean; content?: object }
type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  deprecated?: boolean
  security?: unknown[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<
    string,
    { headers: object; content?: Record<string, { schema: { $ref?: string } }> }
  >
}
type Schema = {
  $ref?: string
  required?: string[]
  enum?: unknown[]
  default?: unknown
  deprecated?: boolean
  additionalProperties?: boolean
  properties: Record<string, Schema & { items: Schema; maxItems: number; description: string }>
}
type Document = {
  info: { description: string }
  tags: { name: string; description: string }[]
  servers: { url: string }[]
  security: unknown[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Schema>
    securitySchemes: { key: { name: string; description: string } }
  }
}

let server: TestServer
let document: Document

async function describe({ url }: TestServer): Promise<Document> {
  const response = await fetch(`${url}/openapi.json`)
  assert.equal(response.status, 200)
  return (await response.json()) as Document
}

function operations(): [path: string, operation: Operation][] {
  const all = Object.entries(document.paths)
  return all.flatMap(([path, item]) => Object.values(item).map((one) => [path, one] as const)) as [
    string,
    Operation,
  ][]
}

/** Returns the responses of all operations, and the schemas that they need. */
function responsesOf({ paths, components }: Document) {
  const responses = Object.entries(paths).flatMap(([path, item]) => {
    return Object.entries(item).map(([method, { responses }]) => ({ path, method, responses }))
  })
  const schemas = new Map<string, Schema>()
  const collect = (value: unknown) => {
    for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (schemas.has(name!)) continue
      schemas.set(name!, components.schemas[name!]!)
      collect(components.schemas[name!])
    }
  }
  collect(responses)
  return { responses, schemas }
}

before(async () => {
  server = await startServer()
  document = await describe(server)
})
after(() => server.close())

test('the description is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document))
  assert.ok(valid, JSON.stringify(errors))
})

/** Pages for people, which are no part of the API. */
const PAGES = ['get /', 'get /about', 'get /dashboard/{name}', 'get /guide', 'get /guide*']

test('the description contains exactly the routes of the server except its pages', () => {
  const folders: string[] = []
  const routes: string[] = []
  for (const line of server.app.http.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent, path, methods] = /^([│ ]*)[├└]── (\S+) \((.*)\)$/.exec(line) ?? []
    if (indent === undefined) continue
    folders.length = indent.length / 4
    folders.push(path!)
    const route = folders.join('').replace(/:(\w+)/g, '{$1}')
    for (const method of methods!.split(', ')) {
      if (method !== 'HEAD') routes.push(`${method.toLowerCase()} ${route}`)
    }
  }
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method} ${path}`),
  )
  assert.ok(routes.includes('get /v2/pre-recorded/{id}/progress'), routes.join('\n'))
  assert.deepEqual([...described, ...PAGES].sort(), routes.sort())
})

test('every operation has texts, a unique id and its common errors', () => {
  const names = operations().map(([, { operationId }]) => operationId)
  assert.equal(new Set(names).size, names.length)
  for (const [path, { tags, summary, description, security, responses }] of operations()) {
    assert.ok(tags.length === 1 && summary && description, path)
    const before = security ? ['400', '500', '503'] : ['400', '401', '403', '429', '500', '503']
    for (const status of before) assert.ok(responses[status], `${path} ${status}`)
  }
})

test('every tag of an operation is described, and every described one is used', () => {
  const used = new Set(operations().flatMap(([, { tags }]) => tags))
  assert.deepEqual([...used].sort(), document.tags.map(({ name }) => name).sort())
})

test('errors have one schema, and that of OpenAI on its paths', () => {
  for (const [path, { responses }] of operations()) {
    for (const [status, { content, headers }] of Object.entries(responses)) {
      assert.ok('X-Request-Id' in headers, `${path} ${status}`)
      if (status !== 'default' && Number(status) < 400) continue
      const schema = content?.['application/json']?.schema
      const name = path.includes('/v1/') ? 'OpenAiError' : 'Error'
      assert.deepEqual(schema, { $ref: `#/components/schemas/${name}` }, `${path} ${status}`)
      assert.equal('Retry-After' in headers, status === '429' || status === '503')
      assert.equal('Content-Range' in headers, status === '416')
    }
  }
})

test('only server information and shared links need no key', () => {
  const open = operations().filter(([, { security }]) => security?.length === 0)
  const paths = open.map(([path]) => path)
  assert.deepEqual(paths, [
    '/health',
    '/ready',
    '/metrics',
    '/openapi.json',
    '/docs',
    '/docs/scalar.js',
    '/v2/shared/{secret}',
    '/v2/shared/{secret}/captions',
    '/v2/shared/{secret}/file',
    '/v2/sign-in',
    '/v2/sign-in',
    '/v2/sign-in',
  ])
  assert.deepEqual(document.security, [{ key: [] }])
})

test('only the older paths are deprecated, and send a Deprecation header', () => {
  for (const [path, { deprecated, responses }] of operations()) {
    const isOlder = path.startsWith('/v2/transcription')
    assert.equal(deprecated ?? false, isOlder, path)
    for (const { headers } of Object.values(responses).slice(0, -1)) {
      assert.equal('Deprecation' in headers, isOlder, path)
    }
  }
})

test('creating a job requires only the URL, and legacy fields are marked', () => {
  const { requestBody, parameters } = document.paths['/v2/pre-recorded']!.post!
  const schema = requestBody!.content['application/json']!.schema
  assert.deepEqual(schema, { $ref: '#/components/schemas/PreRecordedRequest' })
  const { required, properties } = document.components.schemas.PreRecordedRequest!
  assert.deepEqual(required, ['audio_url'])
  const older = Object.keys(properties).filter((name) => properties[name]!.deprecated)
  assert.deepEqual(older.sort(), [
    'accurate_words_timestamps',
    'audio_enhancer',
    'callback_url',
    'chapterization',
    'chapterization_config',
    'code_switching_config',
    'context_prompt',
    'detect_language',
    'diarization_enhanced',
    'enable_code_switching',
    'language',
    'words_accurate_timestamps',
  ])
  assert.deepEqual(
    parameters?.map((one) => [one.in, one.name, one.required]),
    [['header', 'Idempotency-Key', false]],
  )
})

test('creating a session requires nothing, shows defaults and describes the socket', () => {
  const { requestBody, responses, description } = document.paths['/v2/live']!.post!
  const schema = requestBody!.content['application/json']!.schema
  assert.deepEqual(schema, { $ref: '#/components/schemas/LiveRequest' })
  const { LiveRequest, CreatedSession, LiveCallbackConfig } = document.components.schemas
  assert.equal(LiveRequest!.required, undefined)
  assert.equal(LiveCallbackConfig!.required, undefined)
  const { sample_rate, messages_config, ...others } = LiveRequest!.properties
  assert.deepEqual(sample_rate!.enum, [8000, 16000, 32000, 44100, 48000, null])
  assert.equal(sample_rate!.default, 16000)
  const config = { $ref: '#/components/schemas/MessagesConfig' }
  assert.deepEqual(messages_config, { anyOf: [config, { type: 'null' }] })
  const older = Object.keys(others).filter((name) => others[name]!.deprecated)
  assert.deepEqual(older.sort(), [
    'accurate_words_timestamps',
    'callback_url',
    'chapterization',
    'code_switching_config',
    'context_prompt',
    'detect_language',
    'enable_code_switching',
    'language',
    'words_accurate_timestamps',
  ])
  assert.deepEqual(CreatedSession!.required, ['id', 'created_at', 'url'])
  assert.deepEqual(Object.keys(responses).sort(), [
    ...['201', '400', '401', '402', '403', '413', '415', '422', '429', '500', '503', 'default'],
  ])
  for (const word of ['stop_recording', 'byte_range', 'offset', '4410']) {
    assert.ok(description.includes(word), word)
  }
})

test('session metadata can be sent as a field or as the whole body', () => {
  const { requestBody, responses } = document.paths['/v2/live/{id}']!.patch!
  const schema = requestBody!.content['application/json']!.schema
  assert.deepEqual(schema, { $ref: '#/components/schemas/PostSessionMetadata' })
  const { PostSessionMetadata } = document.components.schemas
  assert.equal(PostSessionMetadata!.additionalProperties, true)
  assert.deepEqual(
    [PostSessionMetadata!.required, responses['204']!.content],
    [undefined, undefined],
  )
})

test('an upload accepts a form or JSON', () => {
  const { content } = document.paths['/v2/upload']!.post!.requestBody!
  assert.deepEqual(Object.keys(content), ['multipart/form-data', 'application/json'])
})

test('every parameter of a list is optional', () => {
  const parameters = document.paths['/v2/transcription']!.get!.parameters ?? []
  assert.ok(parameters.some(({ name }) => name === 'offset'))
  assert.ok(parameters.every(({ required }) => !required))
  const metadata = parameters.find(({ name }) => name === 'custom_metadata')
  assert.deepEqual(Object.keys(metadata?.content ?? {}), ['application/json'])
})

test('no text is only the end of a sentence', () => {
  const texts = JSON.stringify(document).match(/"(description|summary)":"[^"]*/g)!
  const fragments = texts.filter((one) => /:"(Of|As|By|In|To|Such|Exclusive)\b/.test(one))
  assert.deepEqual(fragments, [])
})

test('no custom format appears in the description', () => {
  const formats = new Set(JSON.stringify(document).match(/"format":"[^"]*"/g))
  const standard = ['binary', 'date', 'date-time', 'uri', 'uuid'].map((one) => `"format":"${one}"`)
  assert.deepEqual(
    [...formats].filter((one) => !standard.includes(one)),
    [],
  )
})

test('the description follows the settings and contains no secret', async (t) => {
  const configured = await startServer({
    env: {
      STENO_AUTH_HEADER_NAMES: 'X-Other-Key,x-service-key',
      STENO_MODEL_ALIASES: 'fast=stt-1,best=stt-3',
      STENO_EXTRA_LANGUAGE_CODES: 'yue',
      STENO_MAX_METADATA_CHARS: '1234',
      STENO_MAX_FILE_BYTES: '5678',
      STENO_MAX_PROMPTS: '7',
      STENO_UNKNOWN_FIELDS: 'reject',
      STENO_PUBLIC_BASE_URL: 'https://stt.example.test/speech/',
    },
  })
  t.after(() => configured.close())
  const described = await describe(configured)
  const { PreRecordedRequest, LiveRequest, PostSessionMetadata, AudioToLlmConfig, LanguageConfig } =
    described.components.schemas
  const { model, custom_metadata } = PreRecordedRequest!.properties
  assert.deepEqual(model!.enum, ['stt-1', 'stt-3', 'stt-fusion', 'fast', 'best', null])
  assert.deepEqual(LiveRequest!.properties.model!.enum, ['stt-1', 'fast', null])
  assert.equal(PostSessionMetadata!.additionalProperties, true)
  assert.ok(LanguageConfig!.properties.languages!.items.enum?.includes('yue'))
  assert.equal(AudioToLlmConfig!.properties.prompts!.maxItems, 7)
  assert.match(custom_metadata!.description, /1234/)
  assert.match(described.info.description, /5678/)
  assert.match(described.info.description, /Unknown fields are refused/)
  for (const request of [PreRecordedRequest, LiveRequest]) {
    assert.equal(request!.additionalProperties, false)
  }
  assert.equal(described.components.securitySchemes.key.name, 'x-other-key')
  assert.match(described.components.securitySchemes.key.description, /x-other-key, x-service-key/)
  assert.deepEqual(described.servers, [{ url: 'https://stt.example.test/speech' }])
  assert.deepEqual(document.servers, [{ url: '/' }])
  for (const secret of [configured.key, configured.folder]) {
    assert.ok(!JSON.stringify(described).includes(secret))
  }
  assert.deepEqual(
    responsesOf(described),
    responsesOf(document),
    'responses are those of any server',
  )
})

test('form schemas do not name additional parts', async (t) => {
  const strict = await startServer({ env: { STENO_UNKNOWN_FIELDS: 'reject' } })
  t.after(() => strict.close())
  for (const { components } of [document, await describe(strict)]) {
    for (const name of ['UploadForm', 'OpenAiTranscriptionForm']) {
      assert.ok(!('additionalProperties' in components.schemas[name]!), name)
    }
  }
})

test('webhook and callback bodies are described with the result schemas', () => {
  const sent = Object.entries(document.webhooks).map(([name, item]) => {
    const bodies = Object.entries(item).map(([method, { requestBody, security }]) => {
      assert.deepEqual(security, [], 'a receiver has no key')
      return [method, requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1)]
    })
    return [name, Object.fromEntries(bodies)]
  })
  assert.deepEqual(Object.fromEntries(sent), {
    callback: { post: 'CallbackEvent', put: 'CallbackEvent' },
    liveCallback: { post: 'LiveCallbackEvent' },
    webhook: { post: 'WebhookEvent' },
  })
  const { payload } = document.components.schemas.CallbackSuccess!.properties
  assert.deepEqual(payload, { $ref: '#/components/schemas/PreRecordedResult' })
})

test('the description is revalidated by its ETag', async () => {
  const first = await fetch(`${server.url}/openapi.json`)
  await first.arrayBuffer()
  assert.equal(first.headers.get('cache-control'), 'no-cache')
  const tag = first.headers.get('etag') ?? ''
  const headers = { 'if-none-match': tag }
  assert.equal((await fetch(`${server.url}/openapi.json`, { headers })).status, 304)
  headers['if-none-match'] = '"other"'
  assert.equal((await fetch(`${server.url}/openapi.json`, { headers })).status, 200)
})
