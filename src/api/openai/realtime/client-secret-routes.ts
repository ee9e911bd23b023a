import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import type { BodyReader } from '../../bodies/body-reader.ts'
import { acceptJson } from '../../bodies/receiving/json-body.ts'
import {
  clientSecretOperation,
  DEFAULT_SECONDS,
  transcriptionSessionOperation,
} from '../../schemas/openai/openai-realtime.ts'
import type { ClientSecret, ClientSecrets } from './client-secrets.ts'
import { checkSession } from './realtime-socket.ts'
import {
  defaultSettings,
  describeSession,
  type RealtimeVersion,
  toLiveSessionRequest,
  updateSettings,
} from './session-settings.ts'

/**
 * The limit of a body: a secret contains the settings of its session and must fit into a header.
 */
const MAX_BODY_BYTES = 4096
/** How long a secret of the older route is valid, in seconds. */
const OLDER_ROUTE_SECONDS = 60

/** Creates client secrets for web pages, in both forms of OpenAI's API. */
export function clientSecretRoutes({
  bodies,
  live,
  clientSecrets,
}: Pick<App, 'live'> & {
  bodies: BodyReader
  clientSecrets: ClientSecrets
}): FastifyPluginAsyncTypebox {
  async function createSecret(
    { account, keyHash }: FastifyRequest,
    { session, seconds, version }: { session: object; seconds: number; version: RealtimeVersion },
  ): Promise<{ secret: ClientSecret; view: ReturnType<typeof describeSession> }> {
    const { type = 'transcription' } = session as { type?: unknown }
    if (type !== 'transcription') {
      const validationErrors = ['session.type must be transcription: this server only transcribes']
      throw new AppError('request_invalid', undefined, { validationErrors })
    }
    const settings = updateSettings(defaultSettings, session)
    await checkSession({ live, bodies }, account, toLiveSessionRequest(settings))
    const secret = await clientSecrets.create(keyHash, { settings, seconds })
    const id = `sess_${randomUUID().replaceAll('-', '')}`
    return { secret, view: describeSession(id, settings, version) }
  }

  return async (http) => {
    acceptJson(http, { maxBytes: MAX_BODY_BYTES })

    const create = { schema: clientSecretOperation }
    http.post('/v1/realtime/client_secrets', create, async (request, reply) => {
      const { expires_after, session = {} } = await bodies.read('client-secret', request)
      const { seconds } = expires_after ?? { seconds: DEFAULT_SECONDS }
      const { secret, view } = await createSecret(request, { session, seconds, version: 'ga' })
      reply.header('cache-control', 'no-store')
      return { value: secret.value, expires_at: inSeconds(secret), session: { ...view } }
    })

    const older = { schema: transcriptionSessionOperation }
    http.post('/v1/realtime/transcription_sessions', older, async (request, reply) => {
      const session = await bodies.read('transcription-session', request)
      const { secret, view } = await createSecret(request, {
        session,
        seconds: OLDER_ROUTE_SECONDS,
        version: 'beta',
      })
      reply.header('cache-control', 'no-store')
      return { ...view, client_secret: { value: secret.value, expires_at: inSeconds(secret) } }
    })
  }
}

function inSeconds({ expiresAt }: ClientSecret): number {
  return Math.floor(expiresAt / 1000)
}
