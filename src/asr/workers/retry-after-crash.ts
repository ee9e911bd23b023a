import { AppError } from '../../errors.ts'

/**
 * Runs work of a worker process, and retries it once when the process died: it may have died for
 * another reason, but work that kills two processes will kill the next.
 */
export async function retryAfterCrash<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'engine_failed') throw error
    return work()
  }
}
