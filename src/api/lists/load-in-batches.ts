/** Maximum items of a batch; it has fewer if they are long. */
const MAX_ITEMS = 20

/**
 * The approximate bytes of a batch. A job may have a million, and writing a million blocks the
 * event loop for some milliseconds.
 */
const MAX_BYTES = 256 * 1024

/** Yields the items of `rows` in batches of up to `MAX_BYTES`. */
export async function* loadInBatches<Row extends { bytes: number }, Item>(
  rows: readonly Row[],
  load: (batch: Row[]) => Promise<Item[]>,
): AsyncGenerator<Item[]> {
  for (let at = 0; at < rows.length; ) {
    const from = at
    let bytes = rows[at++]!.bytes
    while (at < rows.length && at - from < MAX_ITEMS) {
      bytes += rows[at]!.bytes
      if (bytes > MAX_BYTES) break
      at++
    }
    yield await load(rows.slice(from, at))
  }
}
