import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** `up` is from the client to the server. */
export type Direction = 'up' | 'down'

/** A TCP proxy in front of a server that disturbs connections as networks do. */
export type CuttingProxy = {
  readonly port: number
  /** Returns the address of the same resource through the proxy. */
  through(url: string): string
  /** Sends future connections to another server. */
  retarget(url: string): void
  /** Ends all connections now. New ones are accepted. */
  cut(): void
  /**
   * Ends all connections once exactly this many more bytes have passed in one direction, summed
   * over all of them. Then resolves.
   */
  cutAfter(bytes: number, direction: Direction): Promise<void>
  /**
   * From now on nothing passes, and no peer is notified, also on new connections, until `restore`.
   */
  blackHole(): void
  /** Ends new connections at once, until `restore`, as if the server did not exist. */
  refuse(): void
  /** Lets new connections pass again; those in a black hole stay there. */
  restore(): void
  /** The number of connections opened so far. */
  readonly opened: number
  close(): Promise<void>
}

type Pair = { client: Socket; server: Socket; isDead: boolean }
type Cut = { left: number; direction: Direction; done(): void }

/** Starts a proxy on a free port in front of `target`, the base address of a server. */
export async function startProxy(target: string): Promise<CuttingProxy> {
  const pairs = new Set<Pair>()
  let mode: 'pass' | 'black hole' | 'refuse' = 'pass'
  let cutting: Cut | undefined
  let upstream = new URL(target)
  let opened = 0

  const proxy = createServer({ noDelay: true }, (client) => {
    opened++
    client.on('error', () => {})
    if (mode === 'refuse') {
      client.resetAndDestroy()
      return
    }
    const server = connect({
      host: upstream.hostname.replace(/^\[|\]$/g, ''),
      port: Number(upstream.port),
      noDelay: true,
    })
    server.on('error', () => {})
    const pair: Pair = { client, server, isDead: false }
    pairs.add(pair)
    if (mode === 'black hole') kill(pair)
    pass(pair, 'up')
    pass(pair, 'down')
  })

  function pass(pair: Pair, direction: Direction): void {
    const [from, to] = direction === 'up' ? [pair.client, pair.server] : [pair.server, pair.client]
    from.on('data', (bytes: Buffer) => {
      if (pair.isDead) return
      if (cutting?.direction === direction && bytes.length >= cutting.left) {
        const { left, done } = cutting
        cutting = undefined
        pair.isDead = true
        // Ended, not destroyed: a reset would discard bytes that the other side has not read.
        to.resume()
        to.end(bytes.subarray(0, left), () => {
          pairs.delete(pair)
          cut()
          from.destroy()
        })
        to.once('close', done)
        return
      }
      if (cutting?.direction === direction) cutting.left -= bytes.length
      if (!to.write(bytes)) from.pause()
    })
    to.on('drain', () => {
      if (!pair.isDead) from.resume()
    })
    from.on('close', () => {
      pairs.delete(pair)
      if (!pair.isDead) to.destroySoon()
    })
  }

  /**
   * Stops both directions: neither side receives anything any more; their connections stay open.
   */
  function kill(pair: Pair): void {
    pair.isDead = true
    pair.client.pause()
    pair.server.pause()
  }

  function cut(): void {
    for (const { client, server } of pairs) {
      client.destroy()
      server.destroy()
    }
    pairs.clear()
  }

  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo

  return {
    port,
    through(url) {
      const address = new URL(url)
      address.hostname = '127.0.0.1'
      address.port = String(port)
      return address.href
    },
    retarget: (url) => {
      upstream = new URL(url)
    },
    cut,
    cutAfter(bytes, direction) {
      const { promise, resolve } = Promise.withResolvers<void>()
      cutting = { left: bytes, direction, done: resolve }
      return promise
    },
    blackHole() {
      mode = 'black hole'
      for (const pair of pairs) kill(pair)
    },
    refuse() {
      mode = 'refuse'
    },
    restore() {
      mode = 'pass'
    },
    get opened() {
      return opened
    },
    async close() {
      cut()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
