import type { Socket } from 'node:net'

/**
 * Makes the end of one socket the end of the other; an error only ends them. `open` holds both for
 * as long as they are open. What one has not sent yet is lost when the other closes.
 */
export function pairSockets(client: Socket, server: Socket, open: Set<Socket>): void {
  for (const [socket, other] of [
    [client, server],
    [server, client],
  ] as const) {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      other.destroy()
    })
  }
}
