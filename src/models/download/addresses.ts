/** The sources of model files. */
export type ModelSources = {
  /**
   * A base address under which the paths of all files lie; undefined = the addresses as they are.
   */
  mirror: string | undefined
  /** The address used instead of `https://huggingface.co`. */
  hubEndpoint: string
  /** Sent to `hubEndpoint` only. */
  hubToken: string | undefined
}

const HUB = 'https://huggingface.co'

/** Returns the address to fetch a file of the catalog from, and the headers that it needs. */
export function resolveAddress(
  url: string,
  { mirror, hubEndpoint, hubToken }: ModelSources,
): { url: string; headers: Record<string, string> } {
  if (mirror !== undefined) return { url: `${mirror}${new URL(url).pathname}`, headers: {} }
  if (!url.startsWith(`${HUB}/`)) return { url, headers: {} }
  const headers = hubToken === undefined ? {} : { authorization: `Bearer ${hubToken}` }
  return {
    url: `${hubEndpoint}${url.slice(HUB.length)}`,
    headers: headers as Record<string, string>,
  }
}
