import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { Authenticator } from '../../auth/authenticator.ts'
import { sha256 } from '../../auth/check-key.ts'
import { requireSameOrigin, type SignInState } from '../../auth/sign-in.ts'
import { parseJson } from '../../bodies/parsing/parse-json.ts'
import { acceptJson } from '../../bodies/receiving/json-body.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'
import { DateTime } from '../../schemas/common/values.ts'

/** Many times the length of a key or of a link's secret. */
const MAX_BODY_BYTES = 4096

const Body = Type.Object(
  {
    key: Type.Optional(Type.String({ maxLength: MAX_BODY_BYTES, description: 'An API key' })),
    link: Type.Optional(
      Type.String({
        maxLength: MAX_BODY_BYTES,
        description: 'The secret of a link; it works once',
      }),
    ),
  },
  { title: 'SignInRequest' },
)

const View = Type.Object(
  {
    account: Type.String(),
    scopes: Type.Array(Type.String(), { description: 'What the key may do' }),
    csrf_token: Type.String({
      description: 'The token that writing requests with the cookie must have in `x-csrf-token`',
    }),
    expires_at: DateTime,
  },
  { title: 'SignIn' },
)

const Query = Type.Object({
  everywhere: Type.Boolean({
    default: false,
    description: 'Signs out every browser that uses the same key',
  }),
})

const path = '/v2/sign-in'
const publicRoute = { tags: ['Server'], security: [] }

/** Signs browsers in with a key or a link, and out. An extension of the API. */
export function signInRoutes(
  { config }: Pick<App, 'config'>,
  { signIns, identify }: Authenticator,
): FastifyPluginAsyncTypebox {
  return async (http) => {
    acceptJson(http, { maxBytes: MAX_BODY_BYTES })
    http.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })

    const create = {
      ...publicRoute,
      operationId: 'signIn',
      summary: 'Sign a browser in',
      description:
        'Takes a key or a link, and sets a cookie that scripts cannot read. With the cookie, requests of this origin have the rights of the key, until the cookie or the key expires.',
      body: Body,
      response: { 200: View, ...errorResponses(401, 403, 413, 415, 429) },
    }
    http.post(path, { schema: create }, async (request, reply) => {
      requireSameOrigin(request.raw, config.http)
      const { key: text, link } = readBody(request.body)
      const key = await identify(request, async () => {
        return link === undefined ? sha256(text!) : signIns.consumeLink(link)
      })
      const { cookie, ...state } = await signIns.signIn(key, request.raw)
      return reply.header('set-cookie', cookie).send(toView(state))
    })

    const get = {
      ...publicRoute,
      operationId: 'getSignIn',
      summary: 'Get the account that is signed in',
      description: 'Reads only the cookie, no key.',
      response: { 200: View, ...errorResponses(401, 403) },
    }
    http.get(path, { schema: get }, async ({ raw }) => toView(await signIns.find(raw)))

    const remove = {
      ...publicRoute,
      operationId: 'signOut',
      summary: 'Sign the browser out',
      description:
        'Ends the sign-in of the cookie. The request needs the cookie and `x-csrf-token`.',
      querystring: Query,
      response: {
        204: Type.Unsafe<undefined>(Type.Null({ description: 'The browser is signed out' })),
        ...errorResponses(401, 403),
      },
    }
    http.delete(path, { schema: remove }, async ({ raw, query: { everywhere } }, reply) => {
      return reply
        .header('set-cookie', await signIns.signOut(raw, { everywhere }))
        .code(204)
        .send()
    })
  }
}

function readBody(bytes: unknown): { key?: string; link?: string } {
  const { key, link } = (parseJson((bytes ?? Buffer.alloc(0)) as Buffer) ?? {}) as Record<
    string,
    unknown
  >
  if (typeof key === 'string' && (link ?? null) === null) return { key }
  if (typeof link === 'string' && (key ?? null) === null) return { link }
  const validationErrors = ['the body must contain either key or link, as a string']
  throw new AppError('request_invalid', undefined, { validationErrors })
}

function toView({ key, expiresAt, csrfToken }: SignInState) {
  return {
    account: key.account,
    scopes: [...key.scopes],
    csrf_token: csrfToken,
    expires_at: new Date(expiresAt).toISOString(),
  }
}
