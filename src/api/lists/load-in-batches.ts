/** A batch has at most this many items, and fewer where items are long. */
const MAX_ITEMS = 20

/**
 * About how many bytes a batch has. One job has up to a million; writing that much holds the event
 * loop for some milliseconds.
 */
const MAX_BYTES = 256 * 1024

/** Yields the items that `rows` stand for, some at a time: as many as `MAX_BYTES` hold. */
export async function* loadInBatches<Place extends { bytes: number }, Item>(
  rows: readonly Place[],
  load: (some: Place[]) => Promise<Item[]>,
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
