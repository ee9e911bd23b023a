import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { percentile } from '../../src/cli/live/live-latency.ts'
import type { Arrival } from './receiver-process.ts'

/** An event that is queued for a receiver. */
type Queued = { id: string; sequence: string; seq: number; at: number }

/** The outcome of the deliveries to one receiver. */
export type Outcome = {
  /** The number of events. */
  events: number
  lost: number
  /** Arrivals beyond the first of an event. */
  doubled: number
  /** Arrivals of events that were never queued. */
  invented: number
  /** Events that first arrived after a later event of their job at the same endpoint. */
  outOfOrder: number
  /** Milliseconds since 1970 of the last first arrival of an event. */
  lastAt: number
  /** Milliseconds from the queueing, or from the start of the sender, to the arrival. */
  waitMs: { p50: number; p95: number; p99: number }
}

/** Compares the arrivals with the rows of the store; `began` in milliseconds since 1970. */
export function outcomeOf(
  queued: readonly Queued[],
  came: readonly Arrival[],
  { began }: { began: number },
): Outcome {
  const expectedEvents = new Map(queued.map((event) => [event.id, event]))
  const firsts = new Map<string, number>()
  const reached = new Map<string, number>()
  let [doubled, invented, outOfOrder] = [0, 0, 0]
  for (const [id, at] of came) {
    const event = expectedEvents.get(id)
    if (!event) invented++
    else if (firsts.has(id)) doubled++
    else {
      firsts.set(id, at)
      const { sequence, seq } = event
      if (seq < (reached.get(sequence) ?? 0)) outOfOrder++
      else reached.set(sequence, seq)
    }
  }
  const waits = [...firsts].map(([id, at]) => at - Math.max(began, expectedEvents.get(id)!.at))
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(waits, share) ?? Number.NaN)
  return {
    events: queued.length,
    lost: queued.length - firsts.size,
    doubled,
    invented,
    outOfOrder,
    lastAt: [...firsts.values()].reduce((a, b) => Math.max(a, b), 0),
    waitMs: { p50: p50!, p95: p95!, p99: p99! },
  }
}

/**
 * Returns all events in the store for URLs that begin with `url`; times in milliseconds since 1970.
 */
export function readQueued(folder: string, url: string): Queued[] {
  const database = new DatabaseSync(join(folder, 'steno.sqlite'))
  const rows = database
    .prepare(`select id, job_id || ' ' || endpoint_id as sequence, seq, created_at as at
      from deliveries where substr(url, 1, ?) = ?`)
    .all(url.length, url)
  database.close()
  return rows as Queued[]
}
