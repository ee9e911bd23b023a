import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Receives the victim's callbacks, and serves a recording. */
export type VictimReceiver = {
  /** The URL, with a name that the server has to resolve. */
  url: string
  /** The time of the first request to each path, and the number of requests. */
  readonly came: Map<string, { at: number; count: number }>
  close(): void
}

/** Opens a receiver that serves `recording` at `/talk.wav`. */
export async function openVictimReceiver(recording: Uint8Array): Promise<VictimReceiver> {
  const came = new Map<string, { at: number; count: number }>()
  const server = createServer((request, response) => {
    const { url: path = '', method } = request
    request.resume()
    if (method === 'GET') {
      response.writeHead(200, { 'content-type': 'audio/wav' }).end(recording)
      return
    }
    const earlier = came.get(path)
    came.set(path, { at: earlier?.at ?? performance.now(), count: (earlier?.count ?? 0) + 1 })
    response.end()
  })
  // Listens on both address families, since `localhost` may be either.
  server.listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://localhost:${port}`,
    came,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
