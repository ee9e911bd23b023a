import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { rounds } from '../../../../test/support/random/rounds.ts'
import { readConfig } from '../../../config/config.ts'
import { preRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'
import { formatFieldError, validateFields, validationError } from './validate-fields.ts'

function lines(
  schema: TSchema,
  value: unknown,
  unknownFields: 'ignore' | 'reject' = 'ignore',
): string[] {
  return validateFields(schema, value, { unknownFields }).errors.map(formatFieldError)
}

function read(schema: TSchema, value: unknown): unknown {
  return validateFields(schema, value, { unknownFields: 'ignore' }).value
}

test('validateFields names each invalid field by its dotted path, in schema order', () => {
  const schema = Type.Object({
    id: Type.String(),
    size: Type.Integer({ minimum: 1, maximum: 9 }),
    on: Type.Boolean(),
    deep: Type.Object({ names: Type.Array(Type.Enum(['a', 'b']), { minItems: 1, maxItems: 2 }) }),
    rate: Type.Number(),
    kind: Type.Enum(['x', 'y']),
    text: Type.String({ minLength: 1 }),
    name: Type.String({ maxLength: 3 }),
    url: Type.String({ format: 'http-url' }),
  })
  const value = {
    url: 'ftp://a.example',
    text: '',
    name: 'name',
    kind: 'z',
    rate: '1',
    deep: { names: ['c', 'a'] },
    on: 'true',
    size: 10,
  }
  assert.deepEqual(lines(schema, value), [
    'id is required',
    'size must not be greater than 9',
    'on must be a boolean',
    'deep.names.0 must be one of: a, b',
    'rate must be a number',
    'kind must be one of: x, y',
    'text must not be empty',
    'name must not be longer than 3 characters',
    'url must be an absolute http or https URL',
  ])
  const bounds = { ...value, size: 0, deep: { names: [] }, rate: Number.POSITIVE_INFINITY }
  assert.deepEqual(lines(schema, bounds).slice(1, 5), [
    'size must not be less than 1',
    'on must be a boolean',
    'deep.names must hold at least 1 item',
    'rate must be a number',
  ])
  const shapes = { ...value, size: 1.5, deep: { names: ['a', 'a', 'a'] }, kind: 3, text: {} }
  assert.deepEqual(lines(schema, shapes).slice(1, -2), [
    'size must be an integer',
    'on must be a boolean',
    'deep.names must not hold more than 2 items',
    'rate must be a number',
    'kind must be one of: x, y',
    'text must be a string',
  ])
})

test('validateFields accepts 2.0 as an integer and coerces nothing else', () => {
  const schema = Type.Object({ n: Type.Integer(), s: Type.Optional(Type.String()) })
  assert.deepEqual(read(schema, JSON.parse('{"n": 2.0}')), { n: 2 })
  assert.deepEqual(lines(schema, { n: '2', s: 2 }), ['n must be an integer', 's must be a string'])
  assert.deepEqual(lines(schema, { n: true, s: false }), [
    'n must be an integer',
    's must be a string',
  ])
})

test('validateFields treats null as absent at every depth, except inside free objects', () => {
  const schema = Type.Object({
    a: Type.Optional(Type.String()),
    b: Type.Optional(Type.Object({ c: Type.Optional(Type.Integer()), d: Type.Integer() })),
    on: Type.Boolean({ default: false }),
    free: Type.Record(Type.String(), Type.Unknown()),
  })
  const free = { x: null, y: { z: null } }
  const value = { a: null, b: { c: null, d: 1 }, on: null, free }
  assert.deepEqual(read(schema, value), { b: { d: 1 }, on: false, free })
  assert.deepEqual(lines(schema, { b: { d: null }, free: null }), [
    'b.d is required',
    'free is required',
  ])
})

test('numbers can be enumerated, and their limits are inclusive', () => {
  const schema = Type.Object({
    rate: Type.Unsafe<number>({ type: 'integer', enum: [8, 16] }),
    level: Type.Number({ minimum: 0.01, maximum: 10 }),
  })
  for (const rate of [9, '8', 8.5, true]) {
    assert.deepEqual(lines(schema, { rate, level: 1 }), ['rate must be one of: 8, 16'])
  }
  for (const level of [0.01, 10]) assert.deepEqual(lines(schema, { rate: 16, level }), [])
  assert.deepEqual(lines(schema, { rate: 8, level: 0.009 }), ['level must not be less than 0.01'])
})

test('each request gets its own copy of a default', () => {
  const schema = Type.Object({ formats: Type.Array(Type.String(), { default: ['srt'] }) })
  const first = read(schema, {}) as { formats: string[] }
  first.formats.push('vtt')
  assert.deepEqual(read(schema, {}), { formats: ['srt'] })
})

test('unknown fields are ignored, or refused with one error each', () => {
  const schema = Type.Object({ a: Type.Optional(Type.Object({ b: Type.Optional(Type.Null()) })) })
  const value = { a: { c: 1 }, d: 2, toString: 3 }
  assert.deepEqual(read(schema, value), { a: {} })
  assert.deepEqual(lines(schema, value, 'reject'), [
    'a.c must not be given: unknown field',
    'd must not be given: unknown field',
    'toString must not be given: unknown field',
  ])
})

test('a union is validated against the alternative that has the type of the value', () => {
  const Entry = Type.Object({ value: Type.String() })
  const schema = Type.Object({
    list: Type.Union([Type.Boolean(), Type.Array(Type.Union([Type.String(), Entry]))]),
  })
  assert.deepEqual(lines(schema, { list: true }), [])
  assert.deepEqual(lines(schema, { list: ['a', { value: 'b' }] }), [])
  assert.deepEqual(lines(schema, { list: 'a' }), ['list must be a boolean or an array'])
  assert.deepEqual(lines(schema, { list: [1, { value: 2 }, {}] }), [
    'list.0 must be a string or an object',
    'list.1.value must be a string',
    'list.2.value is required',
  ])
})

test('a language code is normalized before it is validated', () => {
  const codes = ['en', 'ja', 'jw', 'my', 'zh-TW']
  const Code = { type: 'string', format: 'language-code', enum: codes }
  const schema = Type.Object({ codes: Type.Array(Type.Unsafe<string>(Code)) })
  const value = { codes: ['en-US', 'jp', 'jv', 'mymr', 'ja-JP', 'zh-TW'] }
  assert.deepEqual(read(schema, value), { codes: ['en', 'ja', 'jw', 'my', 'ja', 'zh-TW'] })
  const locales = { codes: ['en_US', 'zh_TW', 'ja_JP'] }
  assert.deepEqual(read(schema, locales), { codes: ['en', 'zh-TW', 'ja'] })
  assert.deepEqual(lines(schema, { codes: ['EN', 'zh'] }), [
    'codes.0 must be one of: en, ja, jw, my, zh-TW',
    'codes.1 must be one of: en, ja, jw, my, zh-TW',
  ])
})

test('a key from the client cannot break the format of an error line', () => {
  const schema = Type.Object({ map: Type.Record(Type.String(), Type.Boolean()) })
  const [line = ''] = lines(schema, { map: { 'a must be\nb': 1 } })
  assert.equal(line, 'map.a_must_be_b must be a boolean')
  const [long = ''] = lines(schema, { map: { ['x'.repeat(5000)]: 1 } })
  assert.ok(long.length < 200)
})

test('a million invalid items yield at most a thousand errors', () => {
  const schema = Type.Object({ list: Type.Array(Type.String()) })
  const { errors } = validateFields(
    schema,
    { list: Array(1_000_000).fill(1) },
    { unknownFields: 'ignore' },
  )
  const error = validationError(errors)
  assert.equal(error?.validationErrors?.length, 1000)
  assert.match(error.message, /first 1000 errors/)
})

test('validation stops after the last error that is shown', () => {
  const schema = Type.Object({ list: Type.Array(Type.Enum(['a'])), rest: Type.Object({}) })
  const looked: number[] = []
  const list = new Proxy(Array(100_000).fill('b'), {
    get(target, key, receiver) {
      if (/^\d+$/.test(String(key))) looked.push(Number(key))
      return Reflect.get(target, key, receiver)
    },
  })
  const { errors } = validateFields(schema, { list, rest: {} }, { unknownFields: 'ignore' })
  assert.equal(errors.length, 1001)
  assert.equal(looked.length, 1001)
})

test('size limits of lists, maps and keys are checked before their values', () => {
  const Values = Type.Record(Type.String(), Type.Boolean(), {
    maxProperties: 2,
    propertyNames: { maxLength: 3 },
  })
  const schema = Type.Object({ list: Type.Array(Type.Boolean(), { maxItems: 2 }), map: Values })
  assert.deepEqual(lines(schema, { list: [1, 1, 1], map: { a: 1, b: 1, c: 1 } }), [
    'list must not hold more than 2 items',
    'map must not hold more than 2 keys',
  ])
  assert.deepEqual(lines(schema, { list: [], map: { long: true, b: 1 } }), [
    'map.long must not be a key of more than 3 characters',
    'map.b must be a boolean',
  ])
})

test('long error lines are shown up to 64 KiB in total', () => {
  const words = Array.from({ length: 100 }, (_, i) => `word${i}`)
  const schema = Type.Object({ list: Type.Array(Type.Enum(words)) })
  const { errors } = validateFields(
    schema,
    { list: Array(1000).fill('x') },
    { unknownFields: 'ignore' },
  )
  const { validationErrors = [], message } = validationError(errors)!
  const characters = validationErrors.join('').length
  assert.ok(characters > 60_000 && characters <= 65_536, `${characters}`)
  assert.match(message, new RegExp(`first ${validationErrors.length} errors`))
})

test('a body that is not an object is reported as body_unreadable', () => {
  const schema = Type.Object({})
  for (const value of [null, [], 'text', 5, undefined]) {
    assert.throws(() => read(schema, value), { code: 'body_unreadable' })
  }
})

const body = preRecordedRequest(readConfig({}))
/** TypeBox does not know our formats, so fields that have one are excluded. */
const plainFields = Object.keys(body.properties).filter((name) => !/url|callback/.test(name))

/** Mostly plausible bodies, some of them invalid somewhere. */
const bodies = fc.dictionary(
  fc.constantFrom(...plainFields),
  fc.oneof(
    fc.boolean(),
    fc.integer({ min: -2, max: 40 }),
    fc.constantFrom('en', 'stt-1', 'text', ''),
    fc.array(fc.constantFrom<unknown>('en', 'NAME', 3, { value: 'x' }), { maxLength: 2 }),
    fc.dictionary(
      fc.constantFrom('languages', 'vocabulary', 'prompts', 'formats', 'type', 'min_speakers'),
      fc.oneof(fc.integer(), fc.constantFrom('srt', 'general'), fc.array(fc.string())),
    ),
  ),
)

test('validateFields finds no error exactly when TypeBox accepts the body', () => {
  const validator = Compile(body)
  const audio_url = 'https://a.example/x.wav'
  fc.assert(
    fc.property(bodies, (fields) => {
      const errors = lines(body, { audio_url, ...fields })
      const filled = validator.Default({ audio_url, ...structuredClone(fields) })
      assert.equal(errors.length === 0, validator.Check(filled))
    }),
    { numRuns: rounds(500) },
  )
})

test('validation of any JSON value ends, with error lines in the documented format', () => {
  const anything = fc.dictionary(fc.constantFrom(...Object.keys(body.properties)), fc.jsonValue())
  fc.assert(
    fc.property(anything, (fields) => {
      for (const line of lines(body, fields, 'reject')) {
        assert.match(line, /^[A-Za-z0-9_.]+ (must |is required$)/)
      }
    }),
    { numRuns: rounds(250) },
  )
})
