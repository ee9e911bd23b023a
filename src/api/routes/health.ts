import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { App } from '../../app.ts'
import { AppError } from '../../errors.ts'

const Health = Type.Object({ status: Type.String() })

/** An answer this old is still good: polling must not load the machine. */
const READY_FOR_MS = 5000
/** A second of audio takes a fraction of a second; an engine that needs this long is stuck. */
const READY_TIMEOUT_MS = 15_000

/** Whether the process lives, and whether it can recognise speech. Neither needs a key. */
export function healthRoutes({ speech }: Pick<App, 'speech'>): FastifyPluginAsyncTypebox {
  const checkReady = createReadiness(speech)
  return async (http) => {
    const schema = { response: { 200: Health } }
    http.get('/health', { schema }, async () => ({ status: 'ok' }))
    http.get('/ready', { schema }, async () => {
      await checkReady()
      return { status: 'ok' }
    })
  }
}

/** Asks the engine at most once at a time, and not again while its last answer is fresh. */
export function createReadiness(speech: Pick<App['speech'], 'checkReady'>): () => Promise<void> {
  let answer: Promise<void> | undefined
  return () => {
    answer ??= ask()
    return answer
  }

  async function ask(): Promise<void> {
    try {
      await speech.checkReady({ signal: AbortSignal.timeout(READY_TIMEOUT_MS) })
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      throw new AppError('engine_unavailable', 'it gave no answer', { cause })
    } finally {
      setTimeout(() => {
        answer = undefined
      }, READY_FOR_MS).unref()
    }
  }
}
