import type { FastifyInstance } from 'fastify'
import type { App } from '../app/app-type.ts'
import { FrameScheduler } from '../live/input/frame-scheduler.ts'
import { createAuthenticator } from './auth/authenticator.ts'
import type { Key } from './auth/check-key.ts'
import { requireScope } from './auth/scopes.ts'
import { BodyReader } from './bodies/body-reader.ts'
import { createFastify } from './fastify.ts'
import { allowOrigins } from './middleware/cors.ts'
import { handleUnknownRoutes } from './middleware/not-found.ts'
import { clientSecretRoutes } from './openai/realtime/client-secret-routes.ts'
import { type ClientSecrets, createClientSecrets } from './openai/realtime/client-secrets.ts'
import { createRealtimeSocketServer } from './openai/realtime/realtime-socket.ts'
import { transcriptionRoute } from './openai/transcription-route.ts'
import { describeApi } from './openapi/openapi-document.ts'
import { CaptionStreams } from './responses/streams/caption-streams.ts'
import { auditRoutes } from './routes/accounts/audit.ts'
import { keyRoutes } from './routes/accounts/keys.ts'
import { signInRoutes } from './routes/accounts/sign-in.ts'
import { usageRoutes } from './routes/accounts/usage.ts'
import { addRoutes } from './routes/add-routes.ts'
import { addOnRetryRoute } from './routes/jobs/add-on-retry.ts'
import { deprecatedTranscriptionRoutes } from './routes/jobs/deprecated-transcription.ts'
import { fileRoutes } from './routes/jobs/files.ts'
import { preRecordedRoutes } from './routes/jobs/pre-recorded-routes.ts'
import { uploadRoutes } from './routes/jobs/upload.ts'
import { captionRoutes } from './routes/live/captions.ts'
import { liveRoutes } from './routes/live/live-routes.ts'
import { createLiveSocketServer } from './routes/live/sockets/live-socket.ts'
import { capabilityRoutes } from './routes/models/capabilities.ts'
import { modelRoutes } from './routes/models/models.ts'
import { modelAdminRoutes } from './routes/models/stored-models.ts'
import { healthRoutes } from './routes/operations/health.ts'
import { loadRoutes } from './routes/operations/load.ts'
import { metricsRoutes } from './routes/operations/metrics.ts'
import { nodeRoutes } from './routes/operations/nodes.ts'
import { dashboardRoutes } from './routes/pages/dashboard.ts'
import { guideRoutes } from './routes/pages/guide.ts'
import { homeRoute } from './routes/pages/home.ts'
import { openApiRoutes } from './routes/pages/openapi.ts'
import { searchRoutes } from './routes/transcripts/search.ts'
import { sharedRoutes } from './routes/transcripts/shared.ts'
import { deliveryRoutes } from './routes/webhooks/deliveries.ts'
import { endpointRoutes } from './routes/webhooks/endpoints.ts'
import { eventRoutes } from './routes/webhooks/events.ts'
import { resendingRoutes } from './routes/webhooks/resending.ts'
import { webhookRoutes } from './routes/webhooks/webhooks.ts'

declare module 'fastify' {
  // Only an interface can extend a type of another package.
  interface FastifyRequest {
    /** The account of the key of the request. */
    account: string
    /** The scopes of that key. */
    scopes: Key['scopes']
    /** The hash of that key. */
    keyHash: string
    /** The id of that key in logs and reports. */
    keyId: string
    /**
     * Returns whether the key, or the sign-in of the browser, is still valid; long responses check
     * it.
     */
    isStillAllowed(): Promise<boolean>
  }
}

/** The parts of the app that the HTTP server uses. */
export type HttpDeps = Pick<
  App,
  | 'config'
  | 'log'
  | 'metrics'
  | 'tracing'
  | 'storage'
  | 'speech'
  | 'models'
  | 'jobs'
  | 'live'
  | 'delivery'
>

/** Builds the HTTP server with all routes; it does not listen yet. */
export async function createHttp(deps: HttpDeps): Promise<FastifyInstance> {
  const http = createFastify(deps)
  const bodies = new BodyReader(deps)
  http.addHook('onClose', () => bodies.close())
  const app = { ...deps, bodies }
  const { roles } = app.config.node
  // Pages must be able to read the responses of unknown routes, too.
  await allowOrigins(http, app.config.http)
  handleUnknownRoutes(http)
  await describeApi(http, app.config)
  await addRoutes(http, healthRoutes(app), metricsRoutes(app))
  const authenticator = createAuthenticator(app)
  const clientSecrets = createClientSecrets(app)
  const captions = new CaptionStreams(app)
  http.addHook('preClose', async () => captions.close())
  if (roles.includes('api')) {
    await registerApi(http, { ...app, clientSecrets, captions }, authenticator)
  } else if (roles.includes('live')) {
    // Other nodes forward the viewers of this node's sessions here.
    await http.register(sharedRoutes(app, captions))
    await http.register(async (guarded) => {
      requireKeys(guarded, authenticator)
      await addRoutes(guarded, captionRoutes(app, captions))
    })
  }
  if (roles.includes('api') || roles.includes('live')) {
    const scheduler = new FrameScheduler()
    createLiveSocketServer(http, app, scheduler)
    createRealtimeSocketServer(http, { ...app, authenticator, clientSecrets, scheduler })
  }
  return http
}

/** Registers the routes that only nodes of the role `api` serve. */
async function registerApi(
  http: FastifyInstance,
  app: HttpDeps & { bodies: BodyReader; clientSecrets: ClientSecrets; captions: CaptionStreams },
  authenticator: ReturnType<typeof createAuthenticator>,
): Promise<void> {
  await addRoutes(http, openApiRoutes(app), homeRoute(app), dashboardRoutes(app), guideRoutes())
  await http.register(sharedRoutes(app, app.captions))
  await http.register(signInRoutes(app, authenticator))
  await http.register(async (guarded) => {
    requireKeys(guarded, authenticator)
    await addRoutes(guarded, capabilityRoutes(app), modelRoutes(app))
    await guarded.register(transcriptionRoute(app))
    await guarded.register(clientSecretRoutes(app))
    await guarded.register(uploadRoutes(app))
    await addRoutes(guarded, fileRoutes(app), preRecordedRoutes(app))
    await guarded.register(addOnRetryRoute(app))
    await addRoutes(guarded, liveRoutes(app), captionRoutes(app, app.captions))
    await guarded.register(deprecatedTranscriptionRoutes(app))
    await addRoutes(guarded, deliveryRoutes(app), resendingRoutes(app))
    await guarded.register(endpointRoutes(app))
    await addRoutes(
      guarded,
      webhookRoutes(app),
      eventRoutes(app),
      usageRoutes(app),
      auditRoutes(app),
    )
    await guarded.register(keyRoutes(app))
    await addRoutes(
      guarded,
      nodeRoutes(app),
      loadRoutes(app),
      modelAdminRoutes(app),
      searchRoutes(app),
    )
  })
}

/** Rejects requests without a key or cookie that permits them. */
function requireKeys(
  http: FastifyInstance,
  authenticator: ReturnType<typeof createAuthenticator>,
): void {
  http.decorateRequest('account', '')
  http.decorateRequest('scopes')
  http.decorateRequest('keyHash', '')
  http.decorateRequest('keyId', '')
  http.decorateRequest('isStillAllowed')
  http.addHook('onRequest', async (request) => {
    const { hash, account, scopes, id } = await authenticator.authenticate(request)
    requireScope(scopes, { method: request.method, route: request.routeOptions.url! })
    request.account = account
    request.scopes = scopes
    request.keyHash = hash
    request.keyId = id
    request.isStillAllowed = () => authenticator.isStillAllowed(request)
  })
  // A proxy may treat a response as public because the key is in a header that it does not know.
  http.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    reply.header('x-content-type-options', 'nosniff')
  })
}
