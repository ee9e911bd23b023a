import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import type { Config } from '../../config/config.ts'
import { errorResponse } from '../schemas/common/error.ts'
import { describeRoute } from './describe-route.ts'
import { hoistComponents } from './hoist-components.ts'
import { describeWebhooks } from './webhooks.ts'

/** The settings that affect clients. */
export type DescribedSettings = Pick<Config, 'http' | 'requests' | 'storage' | 'media'>

const tags = [
  { name: 'Upload', description: 'Upload recordings and download them' },
  { name: 'Pre-recorded', description: 'Jobs that transcribe a recording' },
  { name: 'Live', description: 'Sessions that transcribe audio as it arrives' },
  { name: 'Search', description: 'Find words in the transcripts of all jobs' },
  { name: 'Deliveries', description: 'Events sent to callbacks and webhooks' },
  { name: 'Transcription', description: 'Deprecated paths for jobs of both kinds' },
  { name: 'OpenAI-compatible', description: 'The same jobs, for clients written for OpenAI’s API' },
  { name: 'Server', description: 'Health, accounts, keys, models and other administration' },
]

/**
 * Collects the schemas of all routes that are added afterwards; `http.swagger()` returns the
 * document.
 */
export async function describeApi(http: FastifyInstance, config: DescribedSettings): Promise<void> {
  const { authHeaderNames, publicBaseUrl } = config.http
  const [headerName = ''] = authHeaderNames
  await http.register(swagger, {
    stripBasePath: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Steno',
        version: '2',
        summary: 'Self-hosted speech-to-text',
        description: introduction(config),
      },
      // Relative to the location of the document, unless the operator configures what clients see.
      servers: [{ url: publicBaseUrl ?? '/' }],
      tags,
      security: [{ key: [] }],
      components: {
        securitySchemes: {
          key: {
            type: 'apiKey',
            in: 'header',
            name: headerName,
            description: `An API key, sent in one of these headers: ${authHeaderNames.join(', ')}. If a request has several, the first of this list counts.`,
          },
        },
        responses: { MethodNotAllowed: methodNotAllowed() },
      },
    },
    transform: ({ schema, url }: { schema: FastifySchema; url: string }) => ({
      schema: describeRoute(schema, { url, ...config.requests }),
      url,
    }),
    transformObject: (documents) => {
      if (!('openapiObject' in documents)) throw new TypeError('swagger: not an OpenAPI document')
      const { openapiObject: document } = documents
      const { paths } = document
      const { hoisted, schemas } = hoistComponents({ paths, webhooks: describeWebhooks() })
      return { ...document, ...hoisted, components: { ...document.components, schemas } } as never
    },
  })
}

/**
 * Describes the response to a method for which a path has no operation; so it belongs to no
 * operation.
 */
function methodNotAllowed() {
  const allow = {
    description: 'Methods that the path has',
    schema: { type: 'string' as const },
  }
  const schema = { $ref: '#/components/schemas/Error' }
  const { description } = errorResponse(405)
  return { description, headers: { Allow: allow }, content: { 'application/json': { schema } } }
}

function introduction({ http, requests, storage, media }: DescribedSettings): string {
  const unknownFieldRule =
    requests.unknownFields === 'reject'
      ? 'Unknown fields are refused.'
      : 'Unknown fields are ignored.'
  return `Upload a recording or name its address, create a job, and get its result. Or create a live session and send
audio to its socket.

**Requests.** In JSON bodies, null means absent, and the server coerces no values: \`"2"\` is not a number.
${unknownFieldRule} Language codes may be older names (\`jp\`) or carry a region (\`en-US\`, \`en_US\`). One slash at the end of a path
is ignored. A path that has other methods returns 405 with \`Allow\`.

**Errors** have the same form everywhere; the header \`X-Error-Code\` holds the error code.

**Limits.** A recording: ${storage.maxFileBytes} bytes, ${media.maxAudio} seconds. A JSON body: ${http.maxJsonBytes} bytes.
\`custom_metadata\`: ${requests.maxMetadataChars} characters as JSON. Metadata that a client sends for a session:
${http.maxPatchBytes} bytes. A page of a list: ${http.listMaxLimit} jobs, deliveries or endpoints.`
}
