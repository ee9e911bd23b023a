import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startServer } from '../support/server/start-server.ts'

type Schema = {
  $ref?: string
  /** With `null` in a list: the field may be null. */
  type?: string | string[]
  enum?: unknown[]
  format?: string
  description?: string
  deprecated?: boolean
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  propertyNames?: { maxLength?: number }
  maxLength?: number
  maxItems?: number
  maxProperties?: number
}
type Media = Record<string, { schema: Schema }>
type Parameter = { in: string; name: string; schema?: Schema; content?: Media }
type Operation = { parameters?: Parameter[]; requestBody?: { content: Media } }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Every list, map and text below a schema that has no bound, by its path. */
function unbounded(schema: Schema, at: string, { components }: Document): string[] {
  const below = (one: Schema, name: string) =>
    unbounded(one, `${at}${name}`, { components } as Document)
  if (schema.$ref) return below(components.schemas[schema.$ref.split('/').at(-1)!]!, '')
  const type = [schema.type ?? ''].flat().find((name) => name !== 'null') ?? 'null'
  if (type === 'string') return isShort(schema) ? [] : [at]
  if (schema.anyOf) return schema.anyOf.flatMap((one) => below(one, ''))
  if (type === 'array') {
    return [...(schema.maxItems === undefined ? [at] : []), ...below(schema.items!, '[]')]
  }
  if (type === 'object') {
    const fields = Object.entries(schema.properties ?? {})
    const inside = fields.flatMap(([name, fieldSchema]) => below(fieldSchema, `.${name}`))
    const values = schema.additionalProperties
    if (!values) return inside
    const isBounded = schema.maxProperties !== undefined && schema.propertyNames?.maxLength
    const free = typeof values === 'object' && values.type ? below(values, '{}') : []
    return [...(isBounded ? [] : [`${at}{}`]), ...inside, ...free]
  }
  const isIgnored = schema.deprecated && schema.description === 'Accepted and ignored'
  const isSmall = ['boolean', 'integer', 'number', 'null'].includes(type)
  return isSmall || isIgnored ? [] : [at]
}

function isShort({ enum: words, maxLength, format }: Schema): boolean {
  return words !== undefined || maxLength !== undefined || format === 'uuid'
}

test('every list, map and text of every request has a limit', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
  const operations = Object.entries(document.paths).flatMap(([path, item]) => {
    return Object.entries(item).map(([method, one]) => [`${method} ${path}`, one] as const)
  })
  let seen = 0
  const found = operations.flatMap(([name, { parameters = [], requestBody }]) => {
    // An id in a path is looked up as it is; the router bounds it.
    const given = parameters.filter((one) => one.in !== 'path')
    const requested = given.map((one): [string, Schema] => {
      return [`${name} ?${one.name}`, one.schema ?? Object.values(one.content!)[0]!.schema]
    })
    const body = requestBody?.content['application/json']?.schema
    if (body) requested.push([name, body])
    seen += requested.length
    return requested.flatMap(([at, schema]) => unbounded(schema, at, document))
  })
  assert.deepEqual(found, [])
  assert.ok(seen > 40, `${seen} schemas are looked at`)
})
