import type { ListCursor } from '../../storage/jobs/lists/job-lists.ts'
import { type JobJson, writeText } from '../responses/job-json.ts'
import { filterParams, formatCursor, type PageQuery } from './list-query.ts'

/** Whether there is a next page, and the positions of the items of this page, if they are known. */
type ListPage = { more: boolean; rows?: readonly ListCursor[] }

/**
 * Returns the URLs of the first, the current and the next page of a list; the last page has no next
 * one. All contain the filters. The URL of the next page also states where this page ends, if that
 * is known.
 */
export function pageUrls(
  url: string,
  query: PageQuery,
  { limit, page }: { limit: number; page: ListPage },
) {
  const at = (offset: number, cursor?: string) => {
    const params = filterParams(query)
    params.append('offset', `${offset}`)
    params.append('limit', `${limit}`)
    if (cursor !== undefined) params.append('cursor', cursor)
    return `${url}?${params}`
  }
  const nextOffset = query.offset + limit
  const last = page.rows?.at(-1)
  return {
    first: at(0),
    current: at(query.offset, query.cursor),
    next: page.more ? at(nextOffset, last && formatCursor(last, nextOffset)) : null,
  }
}

/** URLs of the pages of a list. */
export type PageUrls = ReturnType<typeof pageUrls>

/**
 * The approximate length of a chunk: a thousand small jobs make few chunks, and long jobs do not
 * make them too large.
 */
const CHUNK_LENGTH = 64 * 1024

/**
 * Loads an item as JSON text once all items before it are written; undefined if the item has been
 * deleted.
 */
export type LazyText = () => JobJson | undefined | Promise<JobJson | undefined>

/** Yields a list as JSON while its items are being loaded, some at a time. */
export async function* writeList(
  urls: PageUrls,
  batches: AsyncIterable<readonly LazyText[]>,
): AsyncGenerator<string | Uint8Array> {
  let chunk = `${JSON.stringify(urls).slice(0, -1)},"items":[`
  let separator = ''
  for await (const items of batches) {
    for (const load of items) {
      const loading = load()
      // Awaiting an available value would cost more than writing it.
      const item = loading instanceof Promise ? await loading : loading
      if (item === undefined) continue
      chunk += separator
      separator = ','
      if (typeof item === 'string') {
        chunk += item
        if (chunk.length < CHUNK_LENGTH) continue
        yield chunk
      } else {
        yield* writeText({ ...item, head: chunk + item.head })
      }
      chunk = ''
    }
  }
  yield `${chunk}]}`
}
