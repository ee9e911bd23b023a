// Two receivers in a process of their own: one responds at once, one never does. Sends their
// addresses, says when as many events have come as it was told to expect, or nothing came for a
// while, and tells what came when asked.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * What came to the receiver that responds: its `webhook-id`, and when, in milliseconds since 1970.
 */
export type Arrival = [id: string, at: number]

/**
 * What a receiver process is told: how many events to expect, or to tell what came, and to begin
 * anew.
 */
export type ReceiverCommand = { expected: number } | 'tell'

/** What it says; `maxStalled` requests were open at a time at the receiver that never answers. */
export type ReceiverReport =
  | { kind: 'ready'; healthy: string; stalled: string }
  | { kind: 'expected' }
  | { kind: 'came'; came: Arrival[]; maxStalled: number }

/** Nothing came for so long: what is missing is lost. */
const TIMEOUT_MS = 30_000

let came: Arrival[] = []
let ids = new Set<string>()
let expected = Number.POSITIVE_INFINITY
let stalledNow = 0
let maxStalled = 0
/** Runs while something is expected. */
let timeout: NodeJS.Timeout | undefined

function sayExpected(): void {
  clearTimeout(timeout)
  timeout = undefined
  say({ kind: 'expected' })
}

const healthy = createServer((request, response) => {
  const id = String(request.headers['webhook-id'])
  request.resume().once('end', () => {
    came.push([id, Date.now()])
    ids.add(id)
    response.writeHead(204).end()
    timeout?.refresh()
    if (ids.size === expected) sayExpected()
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
    timeout = setTimeout(sayExpected, TIMEOUT_MS)
    if (ids.size >= expected) sayExpected()
    return
  }
  say({ kind: 'came', came, maxStalled })
  came = []
  ids = new Set()
  maxStalled = stalledNow
})
process.once('disconnect', () => process.exit())
say({ kind: 'ready', healthy: await listen(healthy), stalled: await listen(stalled) })

function say(report: ReceiverReport): void {
  process.send!(report)
}

async function listen(server: typeof healthy): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
