import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Takes the victim's callbacks, and serves a recording to be fetched. */
export type VictimReceiver = {
  /** By name, so that the server has to look it up. */
  url: string
  /** When the first request to each path came, and how many did. */
  readonly came: Map<string, { at: number; count: number }>
  close(): void
}

/** Opens one that serves `recording` at `/talk.wav`. */
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
  // Of both families: `localhost` may be either.
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
