import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { openAiModels } from '../../../src/api/openai/request.ts'
import { readCatalog } from '../../../src/models/catalog.ts'
import { entityTypes } from '../../../src/text/entities/entity-types.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

type AddOn = {
  name: string
  kind: string
  is_configured: boolean
  is_repeatable: boolean
  languages: string[] | null
  config_schema: { properties: Record<string, { maxItems?: number; maximum?: number }> } | null
}
type Capabilities = {
  limits: object
  recognition: { languages: string[]; models: string[]; live_models: string[] }
  models: Record<
    'installed' | 'available',
    {
      name: string
      kind: string
      engine: string | null
      languages: string[]
      license: string
      version?: string | null
      credit?: string | null
      accuracy_measured?: string | null
    }[]
  >
  add_ons: AddOn[]
  entity_types: { type: string; support: string; languages: string[] }[]
  entity_groups: Record<string, string[]>
}

let server: TestServer
let reported: Capabilities
before(async () => {
  const env = { STENO_MAX_VOCABULARY: '77', STENO_MODEL_ALIASES: 'fast=stt-1,best=stt-3' }
  server = await startServer({ env })
  reported = (await call<Capabilities>(server, '/v2/capabilities')).body
})
after(() => server.close())

function addOn(name: string): AddOn {
  return reported.add_ons.find((one) => one.name === name)!
}

test('capabilities report the languages and models of the engine and settings', () => {
  assert.deepEqual(reported.recognition, {
    languages: server.app.speech.languages,
    models: ['stt-1', 'stt-3', 'stt-fusion', 'fast', 'best'],
    live_models: ['stt-1', 'fast'],
  })
})

test('capabilities list installed and available models', () => {
  const { installed, available } = reported.models
  const base = installed.find(({ name }) => name === 'moonshine-base')!
  assert.deepEqual([base.engine, base.languages, base.version], ['moonshine', ['en'], null])
  const names = [...installed, ...available].map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
  for (const { id } of readCatalog()) assert.ok(names.includes(id))
})

test('every model has a license, and installed ones a credit', () => {
  const unversioned = reported.models.installed.filter(({ version }) => version === null)
  for (const { license, credit, name } of unversioned) {
    assert.ok(license && credit, name)
  }
  const measured = reported.models.available.find(({ name }) => name === 'whisper-base')
  assert.equal(measured!.accuracy_measured, 'itself')
})

test('added speaker models are reported', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-models-'))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'added'))
  const record = { name: 'mine', origin: 'a.onnx', file: 'b.onnx', bytes: 1, sha256: 'c0ffee' }
  await writeFile(join(folder, 'added', 'speaker-embedding.json'), JSON.stringify(record))
  const withModels = await startServer({ env: { STENO_MODELS_DIR: folder } })
  t.after(() => withModels.close())
  const { body } = await call<Capabilities>(withModels, '/v2/capabilities')
  const found = body.models.installed.find(({ name }) => name === 'mine')!
  assert.deepEqual([found.kind, found.version], ['speaker-embedding', 'c0ffee'])
})

test('/v1/models lists model names in the OpenAI format', async () => {
  type List = { object: string; data: { id: string; object: string; languages: string[] }[] }
  const { body } = await call<List>(server, '/v1/models')
  assert.deepEqual(
    [body.object, body.data.map(({ id }) => id)],
    ['list', [...reported.recognition.models, ...openAiModels]],
  )
  assert.deepEqual(body.data[0]!.languages, reported.recognition.languages)
})

test('capabilities report the configured limits', () => {
  const { storage, media } = server.app.config
  assert.deepEqual(reported.limits, {
    max_file_bytes: storage.maxFileBytes,
    max_audio_seconds: media.maxAudio,
  })
})

test('every add-on of a request is reported, configured or not', async () => {
  type Description = { components: { schemas: Record<string, { properties: object }> } }
  const { components } = (await call<Description>(server, '/openapi.json')).body
  const request = components.schemas.PreRecordedRequest!.properties as Record<string, object>
  const switches = Object.keys(request).filter((name) => {
    const { type, anyOf } = request[name] as { type?: string[]; anyOf?: { type: string }[] }
    return type?.[0] === 'boolean' || anyOf?.some((one) => one.type === 'boolean')
  })
  const others = ['callback', 'enable_code_switching', 'detect_language']
  assert.deepEqual(
    switches.filter((name) => !others.includes(name)).sort(),
    reported.add_ons.map(({ name }) => name).sort(),
  )
})

test("an add-on reports its languages, and its config schema with the server's limits", () => {
  const { config_schema, ...vocabulary } = addOn('custom_vocabulary')
  assert.deepEqual(vocabulary, {
    name: 'custom_vocabulary',
    kind: 'transform',
    is_configured: true,
    is_repeatable: false,
    languages: null,
  })
  assert.equal(config_schema!.properties.vocabulary!.maxItems, 77)
  assert.equal(addOn('subtitles').config_schema!.properties.maximum_duration!.maximum, 30)
  assert.deepEqual(addOn('named_entity_recognition').languages, ['en'])
  assert.equal(addOn('sentences').config_schema, null)
  const { is_configured, languages } = addOn('translation')
  assert.deepEqual([is_configured, languages], [false, []])
})

test('entity types report their support, and groups their types', () => {
  assert.deepEqual(
    reported.entity_types.map(({ type }) => type),
    [...entityTypes],
  )
  const card = reported.entity_types.find(({ type }) => type === 'CREDIT_CARD')
  assert.deepEqual(card, { type: 'CREDIT_CARD', support: 'strong', languages: ['en'] })
  assert.ok(reported.entity_groups.PCI!.includes('CVV'))
})

test('capabilities require a key with the scope read', async () => {
  const { db } = server.app.storage
  const { key: reading } = await generateKey(db, { account: 'test', scopes: ['read'] })
  const { key: writing } = await generateKey(db, { account: 'test', scopes: ['write'] })
  const statuses = [reading, writing, 'nobody'].map(async (key) => {
    const headers = { 'x-service-key': key }
    return (await call(server, '/v2/capabilities', { headers })).status
  })
  assert.deepEqual(await Promise.all(statuses), [200, 403, 401])
})
