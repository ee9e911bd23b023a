import { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import type { WriteOptions } from './objects.ts'

/**
 * Passes the bytes of `source` on while the limits of a write allow it. Fails with the reason of
 * the signal when that is aborted, even if the source never ends.
 */
export async function* checkedSource(
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
 * A client that stops sending must not hold up an aborted write; a generator observes its own
 * signal.
 */
function destroy(source: AsyncIterable<Uint8Array>): void {
  if (source instanceof Readable) source.destroy()
}
