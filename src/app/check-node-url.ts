import { once } from 'node:events'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { get as httpsGet } from 'node:https'
import type { Log } from '../observability/log.ts'

/** An address that does not respond within this time is considered wrong. */
const RESPONSE_TIMEOUT_MS = 3000

/**
 * Logs a warning if this process cannot be reached at `url`, the address to which other nodes
 * forward the clients of its live sessions. Otherwise only those clients would notice.
 */
export async function checkNodeUrl(url: string, log: Log): Promise<void> {
  try {
    const target = new URL('/health', url)
    const get = target.protocol === 'https:' ? httpsGet : httpGet
    const signal = AbortSignal.timeout(RESPONSE_TIMEOUT_MS)
    const [response] = (await once(get(target, { agent: false, signal }), 'response')) as [
      IncomingMessage,
    ]
    response.resume()
    if (response.statusCode === 200) return
    throw new Error(`it answers /health with ${response.statusCode}`)
  } catch (err) {
    const remedy = 'set STENO_NODE_URL to an address by which other nodes reach this one'
    log.warn({ url, err, remedy }, 'other nodes cannot forward live clients to this node')
  }
}
