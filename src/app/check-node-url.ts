import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import { NODE_HEADER } from '../api/routes/operations/health.ts'
import type { Log } from '../observability/log.ts'

/** An address that does not respond within this time is considered wrong. */
const RESPONSE_TIMEOUT_MS = 3000
/** Enough requests that another node answers one of them, where nodes share an address. */
const REQUESTS = 5

/**
 * Logs a warning if the node `nodeId`, this process, cannot be reached at `url`, the address to
 * which other nodes forward the clients of its live sessions, or if others can be reached there
 * too. Otherwise only those clients would notice.
 */
export async function checkNodeUrl(
  url: string,
  { nodeId, log }: { nodeId: string; log: Log },
): Promise<void> {
  try {
    for (let i = 0; i < REQUESTS; i++) {
      const { statusCode, headers } = await requestHealth(url)
      if (statusCode !== 200) throw new Error(`it answers /health with ${statusCode}`)
      if (headers[NODE_HEADER] !== nodeId) throw new Error('another server answers there')
    }
  } catch (err) {
    const remedy = 'set STENO_NODE_URL to an address by which other nodes reach this one alone'
    log.warn({ url, err, remedy }, 'other nodes cannot forward live clients to this node')
  }
}

/** Requests `/health` over a connection of its own. */
async function requestHealth(url: string): Promise<IncomingMessage> {
  const target = new URL('/health', url)
  const get = target.protocol === 'https:' ? httpsGet : httpGet
  const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
  const request = get(target, { agent: false, signal })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response.resume()
}
