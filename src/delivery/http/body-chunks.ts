import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { DeliveryBody } from '../../storage/deliveries/delivery-body.ts'

/** The size of a chunk, which takes some tenths of a millisecond to hash. */
const CHUNK_BYTES = 64 * 1024

/**
 * Yields the bytes of a body, 64 KB at a time, and yields to the event loop between the chunks of a
 * long one.
 */
export async function* bodyChunks(body: DeliveryBody): AsyncGenerator<Uint8Array> {
  for await (const bytes of body.chunks()) {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      if (from > 0) await yieldToEventLoop()
      yield bytes.subarray(from, from + CHUNK_BYTES)
    }
  }
}
