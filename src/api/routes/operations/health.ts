import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { AppError } from '../../../errors.ts'
import { checkSharedDatabase } from '../../../storage/database/db.ts'
import { Type } from '../../schemas/common/type.ts'
import { OneOf } from '../../schemas/common/values.ts'

const Health = Type.Object({ status: OneOf('ok') }, { title: 'Health' })

/** The header of the response to `/health` that names the node which sent it. */
export const NODE_HEADER = 'x-steno-node'

/** How long the result of a check is valid: polling must not load the machine. */
const MAX_RESULT_AGE_MS = 5000
/**
 * The check recognizes a second of audio, which takes a fraction of a second: an engine that takes
 * this long is stuck.
 */
const CHECK_TIMEOUT_MS = 15_000

/**
 * Reports whether the process is alive, and whether it accepts work, which means that it has disk
 * space, reaches what it shares with other nodes and can recognize speech. Neither route needs a
 * key.
 */
export function healthRoutes({
  speech,
  storage: { db, space, objects },
}: Pick<App, 'speech' | 'storage'>): FastifyPluginAsyncTypebox {
  const checkReady = createReadiness(speech)
  return async (http) => {
    const publicRoute = { tags: ['Server'], security: [], response: { 200: Health } }
    const health = {
      ...publicRoute,
      operationId: 'getHealth',
      summary: 'Check whether the process is alive',
      description: 'Needs no key.',
    }
    http.get('/health', { schema: health }, async (_request, reply) => {
      reply.header(NODE_HEADER, db.nodeId)
      return { status: 'ok' as const }
    })
    const ready = {
      ...publicRoute,
      operationId: 'getReady',
      summary: 'Check whether the server accepts new work',
      description:
        'Checks that the disk has space, and that a recognizer answers, and so do a shared database and an object store if there are any. Needs no key.',
    }
    http.get('/ready', { schema: ready }, async () => {
      await checkSharedDatabase(db)
      await space.check()
      await objects.checkAvailable?.()
      await checkReady()
      return { status: 'ok' as const }
    })
  }
}

/**
 * Creates a check that runs at most one engine check at a time, and none while its last result is
 * fresh.
 */
export function createReadiness(speech: Pick<App['speech'], 'checkReady'>): () => Promise<void> {
  let lastCheck: Promise<void> | undefined
  return () => {
    lastCheck ??= checkEngine()
    return lastCheck
  }

  async function checkEngine(): Promise<void> {
    try {
      await speech.checkReady({ signal: AbortSignal.timeout(CHECK_TIMEOUT_MS) })
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      throw new AppError('engine_unavailable', 'it did not respond', { cause })
    } finally {
      setTimeout(() => {
        lastCheck = undefined
      }, MAX_RESULT_AGE_MS).unref()
    }
  }
}
