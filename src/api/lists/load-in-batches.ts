/** A batch has at most this many items, and fewer where items are long. */
const MAX_ITEMS = 20

/**
 * About how many characters a batch has. One job has up to a million; writing that much holds the
 * event loop for some milliseconds.
 */
const LENGTH = 256 * 1024

/**
 * Yields the items of `ids`, loaded some at a time. How many follows the length of the former ones:
 * a batch with more than 256 Ki characters is followed by one of half as many items, any other by
 * one of twice as many.
 */
export async function* loadInBatches<Id, Item>(
  ids: readonly Id[],
  { load, lengthOf }: { load(ids: Id[]): Promise<Item[]>; lengthOf(item: Item): number },
): AsyncGenerator<Item> {
  let count = 1
  for (let at = 0; at < ids.length; ) {
    const items = await load(ids.slice(at, at + count))
    at += count
    const length = items.reduce((sum, item) => sum + lengthOf(item), 0)
    count = length > LENGTH ? Math.ceil(count / 2) : Math.min(2 * count, MAX_ITEMS)
    yield* items
  }
}
