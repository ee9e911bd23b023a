import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The bytes that an endless source sends at a time, the interval, and the most bytes in all. */
const ENDLESS = { bytes: 1_000_000, ms: 20, max: 300_000_000 }
const DRIP_MS = 200

/**
 * Opens a misbehaving server: `/drip` sends single bytes, `/silent` never responds, `/endless`
 * sends without end, `/turn` redirects to itself, `/heads` never ends its headers, `/ok` responds
 * with 200. Resolves to its URL.
 */
export async function openSources(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.on('error', () => {})
    const path = request.url ?? ''
    if (path.startsWith('/drip')) {
      response.writeHead(200, { 'content-type': 'audio/wav', 'content-length': 1_000_000 })
      const timer = setInterval(() => response.write('R'), DRIP_MS)
      response.on('close', () => clearInterval(timer))
    } else if (path.startsWith('/endless')) {
      let sent = 0
      response.writeHead(200, { 'content-type': 'audio/wav' })
      const piece = Buffer.alloc(ENDLESS.bytes, 'RIFF')
      const timer = setInterval(() => {
        if (response.writableNeedDrain || sent > ENDLESS.max) return
        sent += piece.length
        response.write(piece)
      }, ENDLESS.ms)
      response.on('close', () => clearInterval(timer))
    } else if (path.startsWith('/turn')) {
      response.writeHead(302, { location: `/turn/${Math.random()}` }).end()
    } else if (path.startsWith('/heads')) {
      request.socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => request.socket.write(`x-${Math.random()}: 1\r\n`), DRIP_MS)
      request.socket.on('close', () => clearInterval(timer))
    } else if (path.startsWith('/ok')) {
      response.end('taken')
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
