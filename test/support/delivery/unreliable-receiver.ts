import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { createToneWav } from '../audio/recordings.ts'

/** A delivery that arrived completely, with a valid signature. */
export type Arrival = {
  /** Its `webhook-id`. */
  id: string
  method: string
  path: string
  body: string
  /** Place of its first byte in the receiver's order of events. */
  begun: number
  /**
   * Place of the response 204 in the same order; undefined when the response was another one, or
   * missing.
   */
  taken: number | undefined
  /** The status of the response; undefined when the connection was dropped. */
  status: number | undefined
}

/**
 * A receiver on loopback that responds with 500, omits answers and drops connections, and is away
 * for a while.
 */
export type UnreliableReceiver = {
  /** Without a slash at its end. */
  url: string
  /** In the order of their last bytes. */
  readonly arrivals: readonly Arrival[]
  /** Requests without a valid signature. */
  readonly foreign: readonly string[]
  /** Cuts all open connections, and each of the next `connections` as soon as it is made. */
  leave(connections: number): void
  /** Accepts requests but delays all responses for `ms` milliseconds. */
  stall(ms: number): void
  /** Returns a place from which on nothing sent before the call can begin. */
  place(): Promise<number>
  close(): Promise<void>
}

export type UnreliableOptions = {
  /** The secret of the signatures. */
  secret: string
  random: () => number
  /** Called after each arrival, before it is answered. */
  onArrival?: () => void
  /** The address to listen on, instead of loopback. */
  host?: string
}

/** The longest delay of a response: long enough for a kill to come between. */
const MAX_ANSWER_MS = 30

/** A recording to be fetched. */
export const SOURCE_PATH = '/talk.wav'

/** Opens a receiver on a free port. */
export async function openUnreliable(options: UnreliableOptions): Promise<UnreliableReceiver> {
  const { secret, random, onArrival, host = '127.0.0.1' } = options
  const webhook = new Webhook(secret)
  const arrivals: Arrival[] = []
  const foreign: string[] = []
  let places = 0
  let toRefuse = 0
  let stalledUntil = 0

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request
    const begun = ++places
    if (path === '/place') return void response.end(String(begun))
    if (path === SOURCE_PATH) return void response.end(createToneWav(2))
    const dice = random()
    if (dice < 0.04) return void request.socket.destroy()
    const body = await text(request)
    const id = String(request.headers['webhook-id'])
    try {
      webhook.verify(body, request.headers as Record<string, string>)
    } catch (error) {
      foreign.push(`${method} ${path} ${id}: ${error}`)
    }
    const arrival: Arrival = {
      id,
      method,
      path,
      body,
      begun,
      taken: undefined,
      status: undefined,
    }
    arrivals.push(arrival)
    onArrival?.()
    if (dice < 0.08) return void request.socket.destroy()
    if (dice < 0.3) await delay(MAX_ANSWER_MS * random())
    await delay(Math.max(0, stalledUntil - performance.now()))
    arrival.status = dice < 0.16 ? 500 : 204
    if (arrival.status === 204) arrival.taken = ++places
    response.writeHead(arrival.status).end()
  }

  const server = createServer((request, response) => {
    // A sender that is killed leaves half a request.
    receive(request, response).catch(() => {})
  })
  server.on('connection', (socket) => {
    if (toRefuse > 0 && toRefuse--) socket.resetAndDestroy()
  })
  server.listen(0, host)
  await once(server, 'listening')
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  return {
    url,
    arrivals,
    foreign,
    leave(connections) {
      toRefuse = connections
      server.closeAllConnections()
    },
    stall(ms) {
      stalledUntil = performance.now() + ms
    },
    async place() {
      // Over a connection of its own: connections made before it are read before it.
      for (;;) {
        const requested = get(`${url}/place`, { agent: false })
        const [answer] = await once(requested, 'response').catch(() => [])
        if (answer) return Number(await text(answer))
      }
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
