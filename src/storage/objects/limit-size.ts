import { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import type { WriteOptions } from './object-store.ts'

/**
 * Passes on the bytes of `source`, within the limits of a write. If the signal aborts, it fails
 * with the reason of the signal, even if the source never ends.
 */
export async function* limitSize(
  source: AsyncIterable<Uint8Array>,
  { maxBytes, signal, reserve }: WriteOptions,
): AsyncGenerator<Uint8Array, undefined> {
  const stop = () => destroy(source)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    let size = 0
    for await (const bytes of source) {
      signal.throwIfAborted()
      size += bytes.byteLength
      if (size > maxBytes) {
        throw new AppError('media_too_large', `more than ${maxBytes} bytes (STENO_MAX_FILE_BYTES)`)
      }
      await reserve?.(bytes.byteLength)
      yield bytes
    }
    signal.throwIfAborted()
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Destroys the source, so that an aborted write does not wait for a client that has stopped
 * sending.
 */
function destroy(source: AsyncIterable<Uint8Array>): void {
  if (source instanceof Readable) source.destroy()
}
