import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TestServer } from '../server/start-server.ts'

/** A request and its response. */
export type Exchange = {
  method: string
  /** With its query, without the address of the server. */
  path: string
  status: number
  headers: Headers
  /** Parsed when it is JSON. */
  body: unknown
}

type Schema = Record<string, unknown>
type Response = { content?: Record<string, { schema: Schema }>; headers?: Record<string, unknown> }
type Document = {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>
  components: { schemas: Schema; responses: Record<string, Response> }
}

const ERROR = '#/components/schemas/Error'

/** Throws when a response does not conform to the published description of the server. */
export type CheckExchange = (exchange: Exchange) => void

let first: Promise<CheckExchange | undefined> | undefined

/**
 * Checks a response of a server. The description of the first server of this process usually
 * decides, since few settings change responses; where it does not allow the response, that of the
 * server itself.
 */
export async function checkExchange(url: string, exchange: Exchange): Promise<void> {
  first ??= readDescription(url)
  const check = await first
  if (!check) first = undefined
  try {
    check?.(exchange)
  } catch {
    const description = await readDescription(url)
    description?.(exchange)
  }
}

/** Returns the check for a server, built from the description that it publishes itself. */
export async function conformanceOf({ url }: Pick<TestServer, 'url'>): Promise<CheckExchange> {
  const check = await readDescription(url)
  assert.ok(check, 'the server serves no description')
  return check
}

/** A server that is stopping does not serve its description. */
async function readDescription(url: string): Promise<CheckExchange | undefined> {
  const response = await fetch(`${url}/openapi.json`).catch(() => undefined)
  return response?.status === 200 ? createCheck((await response.json()) as Document) : undefined
}

/**
 * Creates a check of status, content type, headers and body. An object that names its fields must
 * have no others: published schemas allow later additions, but no field may appear undocumented.
 */
function createCheck(document: Document): CheckExchange {
  const { schemas } = document.components
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    discriminator: false,
    validateSchema: false,
  })
  addFormats.default(ajv)
  ajv.addSchema({ $id: 'description', components: { schemas: close(schemas) as Schema } })
  const validators = new Map<object, ValidateFunction>()

  function validatorOf(schema: Schema): ValidateFunction {
    const known = validators.get(schema)
    if (known) return known
    const rooted = JSON.stringify(close(schema)).replaceAll(
      '"#/components',
      '"description#/components',
    )
    const validate = ajv.compile(JSON.parse(rooted))
    validators.set(schema, validate)
    return validate
  }

  return ({ method, path, status, headers, body }) => {
    const reported = `${method} ${path.slice(0, 200)} answered ${status}`
    const response = responseOf(document, { method, path, status })
    assert.ok(response, `${reported}, which is not in the description`)
    for (const name of ['X-Request-Id', ...(status === 405 ? ['Allow'] : [])]) {
      assert.ok(headers.get(name), `${reported} without ${name}`)
    }
    if (status === 429 || status === 503) assert.match(headers.get('retry-after') ?? '', /^[1-9]/)
    const type = headers.get('content-type')?.split(';', 1)[0]
    if (method === 'HEAD') return
    if (!response.content) return assert.equal(body, '', `${reported} with a body`)
    const media = Object.entries(response.content).find(([range]) =>
      matchesMedia(range, type ?? ''),
    )
    assert.ok(media, `${reported} as ${type}, which is not in the description`)
    const validate = validatorOf(media[1].schema)
    if (validate(body)) return
    const problems = validate.errors!.map(
      (e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`,
    )
    assert.fail(`${reported} against its schema:\n${problems.slice(0, 20).join('\n')}`)
  }
}

/** Returns the described response; for an unknown operation, the error that stands for all. */
function responseOf(
  { paths, components }: Document,
  { method, path, status }: Pick<Exchange, 'method' | 'path' | 'status'>,
): Response | undefined {
  // A literal path goes before one with a parameter.
  const literal = paths[path.split('?', 1)[0]!]
  const item =
    literal ?? Object.entries(paths).find(([template]) => matchesPath(template, path))?.[1]
  const operation = item?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  if (operation) return operation.responses[status]
  if (item && status === 405) return components.responses.MethodNotAllowed
  const expected = [400, 404, 503].includes(status)
  return expected ? { content: { 'application/json': { schema: { $ref: ERROR } } } } : undefined
}

function matchesPath(template: string, path: string): boolean {
  const given = path.split('?', 1)[0]!.replace(/\/$/, '').split('/')
  const parts = template.split('/')
  if (parts.length !== given.length) return false
  return parts.every((part, i) => part === given[i] || (part.startsWith('{') && given[i] !== ''))
}

function matchesMedia(range: string, type: string): boolean {
  return range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))
}

/** Forbids further fields in every object that names some. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, close(item)]))
  const isObject = closed.type === 'object' && typeof closed.properties === 'object'
  return isObject ? { additionalProperties: false, ...closed } : closed
}
