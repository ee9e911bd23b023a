import { type AddressInfo, connect, createServer } from 'node:net'

/** A TCP proxy that keeps every byte that passes to a server. */
export type RecordingProxy = {
  /** Returns the address of the same resource through the proxy. */
  through(url: string): string
  /** Everything that clients sent, over all connections, as text. */
  readonly recorded: string
  close(): void
}

/** Starts a proxy on a free port in front of `target`, the base address of a server. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const { hostname: host, port } = new URL(target)
  const recorded: Buffer[] = []
  const sockets = new Set<{ destroy(): void }>()
  const proxy = createServer((client) => {
    const server = connect({ host, port: Number(port) })
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    client.on('data', (bytes) => recorded.push(bytes))
    client.pipe(server).pipe(client)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const proxyPort = (proxy.address() as AddressInfo).port
  return {
    through(url) {
      const address = new URL(url)
      address.hostname = '127.0.0.1'
      address.port = String(proxyPort)
      return String(address)
    },
    get recorded() {
      return Buffer.concat(recorded).toString()
    },
    close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}
