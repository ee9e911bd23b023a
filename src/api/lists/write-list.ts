import type { ListCursor } from '../../storage/jobs/lists/job-lists.ts'
import { type JobJson, writeText } from '../responses/job-json.ts'
import { filterParams, formatCursor, type PageQuery } from './list-query.ts'

/** Whether more follows a page, and the positions of its items, where a list knows them. */
type ListPage = { more: boolean; rows?: readonly ListCursor[] }

/**
 * Returns the URLs of the first, the current and the next page of a list; the last page has no next
 * one. All carry the filters; the next one also states where this page ended, if known.
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
 * Chunks of about this length are few enough for a thousand small jobs, and small enough for long
 * ones.
 */
const CHUNK_LENGTH = 64 * 1024

/** An item that is opened in its turn; undefined when it has been deleted by then. */
export type LazyText = () => JobJson | undefined | Promise<JobJson | undefined>

/** Yields a list as JSON while its items are loaded, some at a time. */
export async function* writeList(
  urls: PageUrls,
  batches: AsyncIterable<readonly LazyText[]>,
): AsyncGenerator<string | Uint8Array> {
  let chunk = `${JSON.stringify(urls).slice(0, -1)},"items":[`
  let separator = ''
  for await (const items of batches) {
    for (const open of items) {
      const opened = open()
      // Awaiting a value that is already there would cost more than writing it.
      const item = opened instanceof Promise ? await opened : opened
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
