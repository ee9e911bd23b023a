/** Which part of a list was asked for, and whether there is more behind it. */
export type Page = { offset: number; limit: number; more: boolean }

/** The addresses of the first, this and the next page of a list; there is no next one after the last. */
export function pageUrls(url: string, { offset, limit, more }: Page) {
  const at = (start: number) =>
    `${url}?${new URLSearchParams({ offset: `${start}`, limit: `${limit}` })}`
  return { first: at(0), current: at(offset), next: more ? at(offset + limit) : null }
}

/** Addresses of the pages of a list. */
export type PageUrls = ReturnType<typeof pageUrls>

/** Writes a list as JSON while its items are loaded. */
export async function* writeList(
  urls: PageUrls,
  items: AsyncIterable<unknown>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(urls).slice(0, -1)},"items":[`
  let separator = ''
  for await (const item of items) {
    yield separator + JSON.stringify(item)
    separator = ','
  }
  yield ']}'
}
