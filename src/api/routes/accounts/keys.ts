import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import {
  scopes as allScopes,
  countKeys,
  deleteKey,
  findKeyByHash,
  findKeyByPrefix,
  listKeys,
  type Scope,
  type StoredKey,
} from '../../../storage/accounts/keys.ts'
import { clientAddressOf } from '../../auth/client-address.ts'
import { generateKey } from '../../auth/generate-key.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { acceptJson } from '../../bodies/receiving/json-body.ts'
import { toDateTime } from '../../lists/date-time.ts'
import { CreatedKey, KeyList, KeyRequest } from '../../schemas/accounts/key.ts'
import { errorResponses } from '../../schemas/common/error.ts'
import { Type } from '../../schemas/common/type.ts'

/** Many times the length of a name, an account and a few scopes. */
const MAX_BODY_BYTES = 4096
/**
 * Maximum keys of an account: people read the list, and one key for each machine and user stays
 * far below.
 */
const MAX_KEYS = 1000

const path = '/v2/keys'
const SCOPE_NOTE =
  'Requires the scope `keys` for the account of the key, or `admin` for any account.'

const list = {
  tags: ['Server'],
  operationId: 'listKeys',
  summary: 'List keys',
  description: `Lists keys, oldest first, without their secrets and without the keys of the settings. ${SCOPE_NOTE}`,
  response: { 200: KeyList },
}
const create = {
  tags: ['Server'],
  operationId: 'createKey',
  summary: 'Create a key',
  description: `The response contains the key; no later response does. ${SCOPE_NOTE}`,
  body: KeyRequest,
  response: { 201: CreatedKey, ...errorResponses(403, 413, 415, 422) },
}
const revoke = {
  tags: ['Server'],
  operationId: 'revokeKey',
  summary: 'Revoke a key',
  description: `The key stops working immediately, as do its sign-ins and live sessions. ${SCOPE_NOTE}`,
  params: Type.Object({ id: Type.String({ maxLength: 100 }) }),
  response: {
    204: Type.Unsafe<undefined>(Type.Null({ description: 'The key is revoked' })),
    ...errorResponses(403, 404),
  },
}

/** Lists, creates and revokes keys. An extension of the API. */
export function keyRoutes({
  config,
  storage: { db },
  bodies,
}: Pick<App, 'config' | 'storage'> & { bodies: BodyReader }): FastifyPluginAsyncTypebox {
  const actorOf = ({ keyId, raw }: FastifyRequest) => {
    return { source: 'api', keyId, address: clientAddressOf(raw, config.http) } as const
  }

  return async (http) => {
    acceptJson(http, { maxBytes: MAX_BODY_BYTES })
    http.addHook('onSend', async (_request, reply) => {
      reply.header('cache-control', 'no-store')
    })

    http.get(path, { schema: list }, async ({ account, scopes, keyHash }) => {
      const keys = await listKeys(db, { account: scopes.includes('admin') ? undefined : account })
      return { items: keys.map((key) => toView(key, keyHash)) }
    })

    http.post(path, { schema: create }, async (request, reply) => {
      const { keyHash, scopes } = request
      const requestedKey = await bodies.read('key', request)
      const { account = request.account, name = null, expires_in_s: seconds } = requestedKey
      const expiresAt = seconds === undefined ? null : wallNow() + seconds * 1000
      if (!scopes.includes('admin')) {
        if (account !== request.account)
          throw new AppError('key_refused', 'it would belong to another account')
        requireOwnScopes(requestedKey.scopes, scopes)
        requireEarlierExpiry(expiresAt, (await findKeyByHash(db, keyHash))?.expiresAt ?? null)
      }
      if ((await countKeys(db, { account })) >= MAX_KEYS) {
        throw new AppError('too_many_keys', `the limit is ${MAX_KEYS}`)
      }
      const granted = allScopes.filter((scope) => requestedKey.scopes.includes(scope))
      const created = await generateKey(
        db,
        { account, name, scopes: granted, expiresAt },
        actorOf(request),
      )
      const stored = (await findKeyByPrefix(db, created.id))!
      return reply.code(201).send({ ...toView(stored, keyHash), key: created.key })
    })

    http.delete(`${path}/:id`, { schema: revoke }, async (request, reply) => {
      const { account, scopes, params } = request
      const key = await findKeyByPrefix(db, params.id)
      const isVisible = key && (scopes.includes('admin') || key.account === account)
      if (!isVisible) throw new AppError('key_not_found', params.id)
      if (!scopes.includes('admin')) requireOwnScopes(key.scopes, scopes)
      const isRevoked = await deleteKey(db, params.id, actorOf(request))
      if (!isRevoked) throw new AppError('key_not_found', params.id)
      return reply.code(204).send()
    })
  }
}

/** Throws `key_refused` if a key would have scopes that the key of the request lacks. */
function requireOwnScopes(requestedScopes: readonly Scope[], ownScopes: readonly Scope[]): void {
  const extraScopes = requestedScopes.filter((scope) => !ownScopes.includes(scope))
  if (extraScopes.length > 0)
    throw new AppError(
      'key_refused',
      `it would have scopes that your key lacks: ${extraScopes.join(', ')}`,
    )
}

/** Throws `key_refused` if a key would expire later than the key of the request. */
function requireEarlierExpiry(expiresAt: number | null, ownExpiry: number | null): void {
  if (ownExpiry === null || (expiresAt !== null && expiresAt <= ownExpiry)) return
  throw new AppError(
    'key_refused',
    `it would outlive the key of this request, which expires at ${toDateTime(ownExpiry)}`,
  )
}

function toView(key: StoredKey, ownHash: string) {
  const { account, name, createdAt, expiresAt, lastUsedAt } = key
  return {
    id: key.prefix,
    account,
    name,
    scopes: [...key.scopes],
    created_at: toDateTime(createdAt),
    expires_at: expiresAt === null ? null : toDateTime(expiresAt),
    last_used_at: lastUsedAt === null ? null : toDateTime(lastUsedAt),
    is_own: key.hash === ownHash,
  }
}
