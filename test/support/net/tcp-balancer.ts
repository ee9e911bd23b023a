import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** What sends each connection to the next server that accepts it, and knows nothing of HTTP. */
export type Balancer = { url: string; setTargets(urls: readonly string[]): void }

/** Starts a balancer on a free port; it ends with the test. */
export async function startBalancer(t: Pick<TestContext, 'after'>): Promise<Balancer> {
  let targets: readonly URL[] = []
  let next = 0
  const sockets = new Set<Socket>()

  function forward(client: Socket, left: number): void {
    const target = targets[next++ % Math.max(1, targets.length)]
    if (!target || left === 0) return void client.destroy()
    const server = connect(Number(target.port), target.hostname)
    sockets.add(server)
    server.once('error', () => forward(client, left - 1))
    server.once('connect', () => {
      server.removeAllListeners('error')
      server.on('error', () => client.destroy())
      client.once('close', () => server.destroy())
      server.once('close', () => client.destroy())
      client.pipe(server).pipe(client)
    })
  }

  const balancer = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {})
    forward(client, targets.length)
  }).listen(0, '127.0.0.1')
  await once(balancer, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    balancer.close()
  })
  const { port } = balancer.address() as AddressInfo
  const setTargets = (urls: readonly string[]) => {
    targets = urls.map((url) => new URL(url))
  }
  return { url: `http://127.0.0.1:${port}`, setTargets }
}
