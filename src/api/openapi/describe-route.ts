import { STATUS_CODES } from 'node:http'
import type { FastifySchema } from 'fastify'
import type { Config } from '../../config/config.ts'
import { isOpenAiPath } from '../openai/errors.ts'
import { type ErrorStatus, ErrorView, errorResponses } from '../schemas/common/error.ts'
import type { JsonSchema } from '../schemas/common/type.ts'
import { OpenAiErrorView } from '../schemas/openai/openai.ts'
import { publishSchema } from './publish-schema.ts'

/** A response in the API description. */
type ResponseObject = {
  type?: string
  description?: string
  headers?: JsonSchema
  content?: JsonSchema
}

const textHeader = (description: string) => ({ type: 'string', description })
const requestId = { 'X-Request-Id': textHeader('The id of the request; error bodies repeat it') }
const deprecation = { Deprecation: textHeader('`true`: use the route for the kind of job instead') }
const errorCode = { 'X-Error-Code': textHeader('The error code, for programs') }
const retryAfter = {
  'Retry-After': {
    type: 'integer',
    minimum: 1,
    description: 'Seconds to wait before trying again',
  },
}

/** Errors that any route can return, and those that precede every route with a key. */
const commonErrors: readonly ErrorStatus[] = [400, 500, 503]
const authErrors: readonly ErrorStatus[] = [401, 403, 429]

/** Headers of error responses with some statuses. */
const errorHeaders: Partial<Record<string, JsonSchema>> = {
  416: { 'Content-Range': textHeader('The total size in bytes') },
  429: retryAfter,
  503: retryAfter,
}

/**
 * Completes the schema of a route for the description: errors that routes need not name themselves,
 * headers, and all schemas in their published form.
 */
export function describeRoute(
  schema: FastifySchema & { security?: unknown },
  { url, unknownFields }: { url: string } & Pick<Config['requests'], 'unknownFields'>,
): FastifySchema {
  const deprecated = url.startsWith('/v2/transcription')
  const common = schema.security ? commonErrors : [...commonErrors, ...authErrors]
  const responses = { ...errorResponses(...common), ...(schema.response as JsonSchema) }
  const response = Object.entries(responses).map(([status, routeResponse]) => {
    const headers = {
      ...requestId,
      ...(deprecated && deprecation),
      ...(Number(status) >= 400 && { ...errorCode, ...errorHeaders[status] }),
    }
    const content = Number(status) >= 400 ? { content: errorContent(url) } : {}
    return [
      status,
      describeResponse({ ...(routeResponse as ResponseObject), ...content }, { status, headers }),
    ]
  })
  const request = { closed: unknownFields === 'reject', nullable: true }
  return {
    ...schema,
    ...(deprecated && { deprecated }),
    ...(schema.body !== undefined && { body: publishSchema(schema.body as object, request) }),
    ...(schema.querystring !== undefined && {
      querystring: describeQuery(schema.querystring as object),
    }),
    response: { ...Object.fromEntries(response), default: otherErrors(url) },
  }
}

/**
 * Describes query parameters. A parameter that is an object is sent as JSON, because no other
 * OpenAPI style can nest.
 */
function describeQuery(schema: object): JsonSchema {
  const published = publishSchema(schema, { closed: false })
  for (const parameter of Object.values(published.properties as Record<string, JsonSchema>)) {
    if (parameter.type === 'object') parameter['x-consume'] = 'application/json'
  }
  return published
}

/**
 * Describes the errors that are returned before a route is found, such as those of the HTTP parser.
 */
function otherErrors(url: string): JsonSchema {
  return describeResponse(
    {
      description: 'Any other error, such as 408 or 431 for a request that cannot be read.',
      content: errorContent(url),
    },
    { headers: { ...requestId, ...errorCode } },
  )
}

function errorContent(url: string): JsonSchema {
  return { 'application/json': { schema: isOpenAiPath(url) ? OpenAiErrorView : ErrorView } }
}

function describeResponse(
  response: ResponseObject,
  { status = '', headers }: { status?: string; headers: JsonSchema },
): JsonSchema {
  const { description = STATUS_CODES[status], headers: responseHeaders, content } = response
  const allHeaders = publishSchema({ ...headers, ...responseHeaders }, { closed: false })
  if (response.type === 'null') return { type: 'null', description, headers: allHeaders }
  const contents = content ?? { 'application/json': { schema: response } }
  return { description, headers: allHeaders, content: publishSchema(contents, { closed: false }) }
}
