import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Client } from 'pg'
import type { JobNotifier } from '../db.ts'
import type { Tables } from '../tables.ts'

const CHANNEL = 'steno_jobs'
/** Jobs within this time are announced together. */
const TOGETHER_MS = 20
/** Pause before another try to listen. */
const RETRY_MS = 1000
/** How often the connection is checked: a broken one reports nothing. */
const CHECK_MS = 15_000
/** A check or connection that takes longer has failed. */
const LIMIT_MS = 5000

/**
 * Notifies other servers of one database of waiting jobs, with NOTIFY. It is sent after the
 * transaction and beside it: PostgreSQL lets one transaction at a time commit a notification.
 */
export function createJobNotifier(
  url: string,
  main: Kysely<Tables>,
): JobNotifier & { close(): Promise<void> } {
  const self = randomUUID()
  const closed = new AbortController()
  const listeners = new Set<() => void>()
  let listening: Promise<void> | undefined
  let announcement: Promise<void> | undefined

  async function send(): Promise<void> {
    await delay(TOGETHER_MS, undefined, { signal: closed.signal }).catch(() => {})
    announcement = undefined
    // A server that misses it polls.
    await sql`select pg_notify(${CHANNEL}, ${self})`.execute(main).catch(() => {})
  }
  const hint = () => {
    for (const listener of listeners) listener()
  }
  const onNotice = (sender: string | undefined) => {
    if (sender !== self) hint()
  }

  return {
    notify() {
      announcement ??= send()
    },
    listen(onNotify) {
      listeners.add(onNotify)
      listening ??= keepListening(url, { signal: closed.signal, onListening: hint, onNotice })
      return () => void listeners.delete(onNotify)
    },
    async close() {
      closed.abort()
      await Promise.all([announcement, listening])
    },
  }
}

type Listener = {
  signal: AbortSignal
  /** Called with each new connection: what was announced before it is unknown. */
  onListening(): void
  onNotice(payload: string | undefined): void
}

/** Listens until `signal` aborts, over a new connection whenever one was lost. */
async function keepListening(url: string, listening: Listener): Promise<void> {
  const { signal } = listening
  while (!signal.aborted) {
    await listenForJobs(url, listening).catch(() => {})
    await delay(RETRY_MS, undefined, { signal }).catch(() => {})
  }
}

/** Listens over one connection, until it is lost or `signal` aborts. */
async function listenForJobs(
  url: string,
  { signal, onListening, onNotice }: Listener,
): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'steno',
    connectionTimeoutMillis: LIMIT_MS,
    query_timeout: LIMIT_MS,
  })
  const lost = new AbortController()
  const loseIt = () => lost.abort()
  client.on('error', loseIt)
  client.on('end', loseIt)
  client.on('notification', ({ payload }) => onNotice(payload))
  const ended = AbortSignal.any([signal, lost.signal])
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    onListening()
    while (!ended.aborted) {
      await delay(CHECK_MS, undefined, { signal: ended }).catch(() => {})
      if (!ended.aborted) await client.query('select 1')
    }
  } finally {
    const ending = client.end().catch(() => {})
    await Promise.race([ending, delay(LIMIT_MS, undefined, { ref: false })])
  }
}
