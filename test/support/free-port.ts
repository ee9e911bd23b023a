import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** A port that servers can have one after the other: the address of a live session names it. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}
