import { AppError } from '../errors.ts'

/**
 * Does work of a worker process, and does it again when its process died: it may have done so for another
 * reason, but one that dies twice over the same will again.
 */
export async function retryOnce<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'engine_failed') throw error
    return work()
  }
}
