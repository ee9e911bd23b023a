import { setImmediate as turn } from 'node:timers/promises'
import type { DeliveryBody } from '../../storage/deliveries/delivery-body.ts'

/** How much is hashed and sent at once; hashing takes some tenths of a millisecond. */
const PIECE_BYTES = 64 * 1024

/**
 * Yields the bytes of a body, 64 KB at a time. Between the chunks of a long one, other work gets
 * its turn.
 */
export async function* inChunks(body: DeliveryBody): AsyncGenerator<Uint8Array> {
  for await (const bytes of body.pieces()) {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      if (from > 0) await turn()
      yield bytes.subarray(from, from + PIECE_BYTES)
    }
  }
}
