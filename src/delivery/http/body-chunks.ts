import { setImmediate as turn } from 'node:timers/promises'
import type { DeliveryBody } from '../../storage/deliveries/delivery-body.ts'

/** How much is hashed and sent at once; hashing takes some tenths of a millisecond. */
const CHUNK_BYTES = 64 * 1024

/**
 * Yields the bytes of a body, 64 KB at a time. Between the chunks of a long one, other work gets
 * its turn.
 */
export async function* bodyChunks(body: DeliveryBody): AsyncGenerator<Uint8Array> {
  for await (const bytes of body.chunks()) {
    for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
      if (from > 0) await turn()
      yield bytes.subarray(from, from + CHUNK_BYTES)
    }
  }
}
