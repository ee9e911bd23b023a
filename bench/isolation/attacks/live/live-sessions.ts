import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Attacker } from '../../attacker.ts'

/**
 * A session of the attacker with its socket; `wire` sends raw bytes, bypassing the WebSocket
 * client.
 */
export type Attacking = {
  id: string
  url: string
  socket: WebSocket
  wire: Duplex
  isOpen: () => boolean
}

/** Creates a session; undefined when it is refused. */
export async function createSession(
  { send }: Attacker,
  params: Record<string, unknown> = {},
): Promise<{ id: string; url: string } | undefined> {
  const { status, text } = await send('/v2/live', { json: params })
  return status === 201 ? (JSON.parse(text) as { id: string; url: string }) : undefined
}

/** Connects to a session; counts how the connection ends. */
export async function join(
  { signal, count }: Attacker,
  { id, url }: { id: string; url: string },
): Promise<Attacking> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  const { promise: wire, resolve } = Promise.withResolvers<Duplex>()
  socket.once('upgrade', (response) => resolve(response.socket))
  socket.on('error', () => {})
  socket.on('close', (code) => {
    if (!signal.aborted) count(`close ${code}`)
  })
  signal.addEventListener('abort', () => socket.terminate())
  await once(socket, 'open', { signal })
  count('connected')
  return { id, url, socket, wire: await wire, isOpen: () => socket.readyState === WebSocket.OPEN }
}

/**
 * Runs `act` on sessions in `concurrency` loops at once; each loop opens a new session when `act`
 * ends.
 */
export function onSessions(
  attacker: Attacker,
  { concurrency, params = {} }: { concurrency: number; params?: Record<string, unknown> },
  act: (attacking: Attacking, loop: number) => Promise<void>,
): Promise<void> {
  return attacker.repeat(concurrency, async (loop) => {
    const session = await createSession(attacker, params)
    if (!session) return void (await sleep(500))
    const attacking = await join(attacker, session)
    await act(attacking, loop)
    attacking.socket.terminate()
  })
}

/** Opcodes of RFC 6455, section 5.2. */
export const opcodes = { continuation: 0, text: 1, binary: 2, ping: 9 } as const

/** Returns a client frame with a mask of zeros. `isLast` is the bit FIN. */
export function frame(opcode: number, payload: Uint8Array, isLast = true): Buffer {
  const length = payload.length
  const size =
    length < 126 ? [128 + length] : length < 65_536 ? [254, length >> 8, length & 255] : undefined
  if (!size) throw new RangeError(`a payload of ${length} bytes; at most 65,535 are supported`)
  return Buffer.concat([Buffer.from([(isLast ? 128 : 0) + opcode, ...size, 0, 0, 0, 0]), payload])
}

/** Bytes per second of all sockets of a flood: the rate of a slow line. */
const FLOOD_BYTES_PER_SECOND = 1_500_000
const FLOOD_MS = 50

/** Writes these frames repeatedly, at the rate of a slow line that `concurrency` sockets share. */
export async function flood(
  { signal, spend }: Attacker,
  { wire, isOpen }: Attacking,
  { frames, concurrency }: { frames: Buffer; concurrency: number },
): Promise<void> {
  const each = (FLOOD_BYTES_PER_SECOND / concurrency) * (FLOOD_MS / 1000)
  const copies = Buffer.concat(
    Array.from({ length: Math.max(1, Math.round(each / frames.length)) }, () => frames),
  )
  while (isOpen() && !signal.aborted && spend(copies.length)) {
    if (!wire.writableNeedDrain) wire.write(copies)
    await sleep(FLOOD_MS)
  }
}
