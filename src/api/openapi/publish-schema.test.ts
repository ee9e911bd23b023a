import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import Type from 'typebox'
import { type JsonSchema, valuesOf } from '../../../test/support/api/schema-values.ts'
import { rounds } from '../../../test/support/random/rounds.ts'
import { readConfig } from '../../config/config.ts'
import { isObject } from '../../is-object.ts'
import { validateFields } from '../bodies/validation/validate-fields.ts'
import { preRecordedRequest } from '../schemas/jobs/pre-recorded-request.ts'
import { publishSchema } from './publish-schema.ts'

const open = { closed: false }

test('a field with a default is not required in the published schema', () => {
  const schema = Type.Object({
    name: Type.String(),
    size: Type.Integer({ minimum: 1, default: 3 }),
  })
  assert.deepEqual(publishSchema(schema, open), {
    type: 'object',
    properties: {
      name: { type: 'string' },
      size: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 3 },
    },
    required: ['name'],
  })
})

test('a custom format is published as a standard one or omitted', () => {
  const schema = Type.Array(
    Type.Union([
      Type.String({ format: 'http-url' }),
      Type.String({ format: 'language-code' }),
      Type.String({ format: 'date-time' }),
      Type.String({ format: 'date-or-date-time' }),
    ]),
  )
  assert.deepEqual(publishSchema(schema, open).items, {
    anyOf: [
      { type: 'string', format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]' },
      { type: 'string' },
      { type: 'string', format: 'date-time' },
      { type: 'string', anyOf: [{ format: 'date' }, { format: 'date-time' }] },
    ],
  })
})

test('properties named like schema keywords are published as properties', () => {
  const schema = Type.Object({
    format: Type.String({ default: 'srt' }),
    required: Type.Boolean(),
    default: Type.Object({ properties: Type.Array(Type.String()) }),
  })
  const { properties, required } = publishSchema(schema, open) as JsonSchema
  assert.deepEqual(Object.keys(properties ?? {}), ['format', 'required', 'default'])
  assert.deepEqual(required, ['required', 'default'])
})

test('maps with free keys stay open when unknown fields are refused', () => {
  const schema = Type.Object({ free: Type.Record(Type.String(), Type.Array(Type.String())) })
  assert.deepEqual(publishSchema(schema, { closed: true }), {
    type: 'object',
    properties: {
      free: { type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } },
    },
    required: ['free'],
    additionalProperties: false,
  })
})

const body = preRecordedRequest(readConfig({ STENO_EXTRA_LANGUAGE_CODES: 'yue' }))

test('null is accepted for the fields of a body that are not required', () => {
  const schema = Type.Object({
    url: Type.String({ format: 'http-url' }),
    size: Type.Integer({ enum: [8, 16], default: 8 }),
    date: Type.Optional(Type.String({ format: 'date-or-date-time' })),
    prompt: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
    config: Type.Optional(Type.Object({ type: Type.Optional(Type.String()) }, { title: 'Config' })),
    any: Type.Optional(Type.Unknown()),
  })
  const text = { type: 'string' }
  const nothing = { type: 'null' }
  const config = {
    type: 'object',
    title: 'Config',
    properties: { type: { type: ['string', 'null'] } },
  }
  assert.deepEqual(publishSchema(schema, { ...open, nullable: true }).properties, {
    url: { ...text, format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]' },
    size: { type: ['integer', 'null'], enum: [8, 16, null], default: 8 },
    date: { type: ['string', 'null'], anyOf: [{ format: 'date' }, { format: 'date-time' }] },
    prompt: { anyOf: [text, { type: 'array', items: text }, nothing] },
    config: { anyOf: [config, nothing] },
    any: {},
  })
})

/** Invalid values of every type, and null, which for a field that is not required means absent. */
const junk = fc.oneof(
  fc.constantFrom<unknown>('', 'xx', '/file/1', 'ftp://a.example/b', 'true', '16'),
  fc.constantFrom<unknown>(null, true, 0, -1, 0.5, 31, 1e300, 2 ** 53),
  fc.constantFrom<unknown>([], [null], ['en', 'xx'], {}, { value: 'x' }, { url: 'x' }),
)

for (const unknownFields of ['ignore', 'reject'] as const) {
  test(`published schema and validateFields agree (unknown fields: ${unknownFields})`, () => {
    const published = publishSchema(body, { closed: unknownFields === 'reject', nullable: true })
    const ajv = new Ajv2020({ strict: false })
    addFormats.default(ajv)
    const validate = ajv.compile(published)
    const seen = { taken: 0, refused: 0 }
    const fitting = valuesOf(published as JsonSchema)
    const doubtful = valuesOf(published as JsonSchema, { junk }).filter(isObject)
    const extra = fc.record({ color: fc.string() }, { requiredKeys: [] })
    fc.assert(
      fc.property(fc.oneof(fitting, doubtful), extra, (fields, more) => {
        const value = { ...(fields as object), ...more }
        const { errors } = validateFields(body, value, { unknownFields })
        const isTaken = validate(value)
        seen[isTaken ? 'taken' : 'refused']++
        assert.equal(errors.length === 0, isTaken, JSON.stringify([errors, validate.errors]))
      }),
      { numRuns: rounds(250) },
    )
    assert.ok(seen.taken > 0 && seen.refused > 0, JSON.stringify(seen))
  })
}
