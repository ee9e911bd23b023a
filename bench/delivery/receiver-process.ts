// A process with two receivers: one responds at once, one never does. It sends their addresses,
// reports when the expected number of events has arrived or nothing arrived for a while, and sends
// the arrivals on request.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * An arrival at the receiver that responds: its `webhook-id`, and the time in milliseconds since
 * 1970.
 */
export type Arrival = [id: string, at: number]

/**
 * A command to the receiver process: the number of events to expect, or to send the arrivals and
 * clear them.
 */
export type ReceiverCommand = { expected: number } | 'tell'

/**
 * A message of the receiver process; `maxStalled` is the most open requests at the receiver that
 * never responds.
 */
export type ReceiverReport =
  | { kind: 'ready'; healthy: string; stalled: string }
  | { kind: 'expected' }
  | { kind: 'came'; came: Arrival[]; maxStalled: number }

/** Without an arrival for this long, the missing events count as lost. */
const TIMEOUT_MS = 30_000

let came: Arrival[] = []
let ids = new Set<string>()
let expected = Number.POSITIVE_INFINITY
let stalledNow = 0
let maxStalled = 0
/** The timer that runs while events are expected. */
let timeout: NodeJS.Timeout | undefined

function reportExpected(): void {
  clearTimeout(timeout)
  timeout = undefined
  sendReport({ kind: 'expected' })
}

const healthy = createServer((request, response) => {
  const id = String(request.headers['webhook-id'])
  request.resume().once('end', () => {
    came.push([id, Date.now()])
    ids.add(id)
    response.writeHead(204).end()
    timeout?.refresh()
    if (ids.size === expected) reportExpected()
  })
})

const stalled = createServer((request) => {
  maxStalled = Math.max(maxStalled, ++stalledNow)
  request.socket.once('close', () => stalledNow--)
  request.resume()
})

process.on('message', (order: ReceiverCommand) => {
  if (order !== 'tell') {
    expected = order.expected
    clearTimeout(timeout)
    timeout = setTimeout(reportExpected, TIMEOUT_MS)
    if (ids.size >= expected) reportExpected()
    return
  }
  sendReport({ kind: 'came', came, maxStalled })
  came = []
  ids = new Set()
  maxStalled = stalledNow
})
process.once('disconnect', () => process.exit())
sendReport({ kind: 'ready', healthy: await listen(healthy), stalled: await listen(stalled) })

function sendReport(report: ReceiverReport): void {
  process.send!(report)
}

async function listen(server: typeof healthy): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
