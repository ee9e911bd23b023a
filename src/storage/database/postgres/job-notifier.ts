import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { Client } from 'pg'
import type { JobNotifier } from '../db.ts'
import type { Tables } from '../tables.ts'

const CHANNEL = 'steno_jobs'
/** Jobs within this time share one notification. */
const BATCH_MS = 20
/** The pause before another attempt to listen. */
const RETRY_MS = 1000
/** The interval at which the connection is checked: a broken connection reports nothing. */
const CHECK_MS = 15_000
/** A check or an attempt to connect that takes longer has failed. */
const TIMEOUT_MS = 5000

/**
 * Notifies the other servers of one database of waiting jobs, with NOTIFY. The notification is sent
 * after the transaction and on another connection, because PostgreSQL lets only one transaction at
 * a time commit a notification.
 */
export function createJobNotifier(
  url: string,
  main: Kysely<Tables>,
): JobNotifier & { close(): Promise<void> } {
  const self = randomUUID()
  const closed = new AbortController()
  const listeners = new Set<() => void>()
  let listening: Promise<void> | undefined
  let pendingNotification: Promise<void> | undefined

  async function send(): Promise<void> {
    await delay(BATCH_MS, undefined, { signal: closed.signal }).catch(() => {})
    pendingNotification = undefined
    // A server that misses the notification finds the job with its next poll.
    await sql`select pg_notify(${CHANNEL}, ${self})`.execute(main).catch(() => {})
  }
  const notifyListeners = () => {
    for (const listener of listeners) listener()
  }
  const onNotification = (sender: string | undefined) => {
    if (sender !== self) notifyListeners()
  }

  return {
    notify() {
      pendingNotification ??= send()
    },
    listen(onNotify) {
      listeners.add(onNotify)
      listening ??= keepListening(url, {
        signal: closed.signal,
        onListening: notifyListeners,
        onNotification,
      })
      return () => void listeners.delete(onNotify)
    },
    async close() {
      closed.abort()
      await Promise.all([pendingNotification, listening])
    },
  }
}

type Listener = {
  signal: AbortSignal
  /** Called with each new connection: it is unknown which notifications were sent before. */
  onListening(): void
  onNotification(payload: string | undefined): void
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
  { signal, onListening, onNotification }: Listener,
): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'steno',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
  })
  const lost = new AbortController()
  const onLost = () => lost.abort()
  client.on('error', onLost)
  client.on('end', onLost)
  client.on('notification', ({ payload }) => onNotification(payload))
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
    await Promise.race([ending, delay(TIMEOUT_MS, undefined, { ref: false })])
  }
}
