import { AppError } from '../../errors.ts'

/**
 * Runs work in a worker process and retries it once when the process crashes: the crash may have
 * another cause, but work that crashes two processes will crash the next.
 */
export async function retryAfterCrash<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'engine_failed') throw error
    return work()
  }
}
