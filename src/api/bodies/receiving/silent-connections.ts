import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** How long a connection that timed out may still show that it is in use. */
const LAST_PART_MS = 5000

/**
 * Ends the connections of `server` that time out. If the process stood still, the timeouts fire
 * before the sockets are read, so a connection ends only if nothing arrives after its timeout.
 */
export function endSilentConnections(server: Server): void {
  server.on('timeout', (socket: Socket) => {
    const { bytesRead, bytesWritten } = socket
    const end = () => {
      const isSilent = socket.bytesRead === bytesRead && socket.bytesWritten === bytesWritten
      if (isSilent) socket.destroy()
    }
    setTimeout(end, LAST_PART_MS).unref()
  })
}
