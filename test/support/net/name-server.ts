import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/**
 * A name server's answer for a name: its addresses (none: it has none of that family), or how it
 * fails.
 */
export type NameResponse = readonly string[] | 'unknown' | 'broken' | 'silent'

/** A name server on this machine. */
export type NameServer = {
  /** `address:port`. */
  address: string
  /** The queried names in order, one entry for the query of each family. */
  requested: string[]
  close(): void
}

const A = 1
const AAAA = 28
const HEADER_BYTES = 12
const codes = { unknown: 3, broken: 2 } as const

/**
 * Starts a name server that responds by `respond`; a name with addresses returns those of the
 * requested family.
 */
export async function openNameServer(
  response: (name: string) => NameResponse,
): Promise<NameServer> {
  const socket = createSocket('udp4')
  const requested: string[] = []
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question)
    requested.push(name)
    const answered = response(name)
    if (answered === 'silent') return
    const code = typeof answered === 'string' ? codes[answered] : 0
    const addresses =
      typeof answered === 'string' ? [] : answered.filter((one) => typeOf(one) === type)
    socket.send(writeResponse(question.subarray(0, end), { code, addresses }), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    requested,
    close: () => socket.close(),
  }
}

function typeOf(address: string): number {
  return isIPv4(address) ? A : AAAA
}

function readQuestion(question: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  // A resolver may vary the letter case of the question; names are compared without case.
  return { name: labels.join('.').toLowerCase(), type: question.readUInt16BE(at + 1), end: at + 5 }
}

function writeResponse(
  question: Buffer,
  { code, addresses }: { code: number; addresses: readonly string[] },
): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8580 | code, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.fill(0, 8, HEADER_BYTES)
  return Buffer.concat([head, ...addresses.map(writeRecord)])
}

function writeRecord(address: string): Buffer {
  const bytes = isIPv4(address) ? ipv4Bytes(address) : ipv6Bytes(address)
  const record = Buffer.alloc(12)
  // A pointer to the name in the question.
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
  record.writeUInt16BE(typeOf(address), 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([record, bytes])
}

function ipv4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number))
}

/** Accepts the forms `::1`, `a::b` and all eight groups. */
function ipv6Bytes(address: string): Buffer {
  const [front = '', back = ''] = address.split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const missing = 8 - groups(front).length - groups(back).length
  const all = [...groups(front), ...Array<string>(missing).fill('0'), ...groups(back)]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
