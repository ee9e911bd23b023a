import type { FastifyInstance } from 'fastify'
import type { App } from '../app.ts'
import { createAuthenticate } from './auth.ts'
import { fileRoutes } from './routes/files.ts'
import { healthRoutes } from './routes/health.ts'
import { liveRoutes } from './routes/live.ts'
import { preRecordedRoutes } from './routes/pre-recorded.ts'
import { transcriptionRoutes } from './routes/transcription.ts'
import { uploadRoutes } from './routes/upload.ts'
import { createServer } from './server.ts'

declare module 'fastify' {
  // A declaration of another package can only be extended by an interface.
  interface FastifyRequest {
    /** Whose key came with the request. */
    account: string
  }
}

/** Everything the HTTP server answers with. */
export type HttpParts = Pick<App, 'config' | 'log' | 'storage' | 'speech' | 'jobs'>

/** Builds the HTTP server with all its routes; it does not listen yet. */
export async function createHttp(app: HttpParts): Promise<FastifyInstance> {
  const { config, storage } = app
  const http = createServer(app)
  await http.register(healthRoutes(app))

  const authenticate = createAuthenticate({ config, db: storage.db })
  await http.register(async (guarded) => {
    guarded.decorateRequest('account', '')
    guarded.addHook('onRequest', async (request) => {
      request.account = await authenticate(request.headers)
    })
    await guarded.register(uploadRoutes(app))
    await guarded.register(fileRoutes(app))
    await guarded.register(preRecordedRoutes(app))
    await guarded.register(liveRoutes(app))
    await guarded.register(transcriptionRoutes(app))
  })
  return http
}
