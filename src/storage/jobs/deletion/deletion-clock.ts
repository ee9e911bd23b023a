import { readFile, stat } from 'node:fs/promises'
import { DAY_MS } from '../../../clock.ts'
import type { Log } from '../../../observability/log.ts'
import { databaseFile } from '../../data-folder/data-folder.ts'
import { writeDurably } from '../../objects/disk/durable-file.ts'

/** Decides whether the system clock can be trusted for deleting old data. */
export type DeletionClock = {
  /** False while the clock is far ahead of the newest time that the store has recorded. */
  mayDelete(now?: number): boolean
  /** Writes the newest time to disk. */
  close(): Promise<void>
}

/**
 * The longest advance of the clock that is trusted: a server may be off for a week, and a wrong
 * clock is wrong by months or years.
 */
const MAX_LEAP_MS = 7 * DAY_MS
/**
 * How long an operator has to notice a wrong clock. A server that really was off for a long time
 * deletes a day later.
 */
const CONFIRM_MS = DAY_MS
/** How often the newest time is written: leaps are measured in days, so this is often enough. */
const SAVE_EVERY_MS = 10 * 60_000

/** How an operator confirms that the clock is right. */
const TRUST_SETTING = 'STENO_TRUST_CLOCK'

/** The recorded state of the clock; all values in milliseconds since 1970. */
export type ClockState = {
  /** The newest trusted time. */
  seenAt: number
  /** Since when the clock has been ahead of it, and its last reading since then. */
  doubt?: { since: number; lastAt: number } | undefined
}

/**
 * Returns the state after one more reading of the clock. A clock more than 7 days ahead of the
 * newest trusted time is doubted. It is trusted again once it has advanced for a day from there,
 * even if the server was restarted in between. A clock that goes back is trusted, because it makes
 * nothing older.
 */
export function readClock({ seenAt, doubt }: ClockState, now: number): ClockState {
  if (now - seenAt <= MAX_LEAP_MS) return { seenAt: now }
  const isSameDoubt = doubt && now >= doubt.since && now - doubt.lastAt <= MAX_LEAP_MS
  if (!isSameDoubt) return { seenAt, doubt: { since: now, lastAt: now } }
  if (now - doubt.since >= CONFIRM_MS) return { seenAt: now }
  return { seenAt, doubt: { since: doubt.since, lastAt: now } }
}

type DeletionClockOptions = { folder: string; log: Log; isTrusted: boolean }

/**
 * Opens the clock state of a data folder, before the database is opened. If there is none, the
 * modification time of the database file counts. `isTrusted` trusts the clock whatever it says.
 */
export async function openDeletionClock({
  folder,
  log,
  isTrusted,
}: DeletionClockOptions): Promise<DeletionClock> {
  const file = `${databaseFile(folder)}.clock`
  let state = (await load(file)) ?? { seenAt: await lastWritten(folder) }
  // The state of the start is written with the next change, after a while, or when the clock is
  // closed.
  let savedAt = Date.now()
  let saving = Promise.resolve()

  function save(now: number): void {
    savedAt = now
    const text = `${JSON.stringify(state)}\n`
    saving = saving
      .then(() => writeDurably(file, text))
      .catch((err) => {
        log.debug({ err }, 'cannot store the newest trusted time')
      })
  }

  return {
    mayDelete(now = Date.now()) {
      const before = state
      state = isTrusted ? { seenAt: now } : readClock(state, now)
      const isChanged = (before.doubt === undefined) !== (state.doubt === undefined)
      if (isChanged) logChange(log, { before, state, now })
      if (isChanged || Math.abs(now - savedAt) >= SAVE_EVERY_MS) save(now)
      return state.doubt === undefined
    },
    close() {
      save(Date.now())
      return saving
    },
  }
}

type ClockChange = { before: ClockState; state: ClockState; now: number }

function logChange(log: Log, { before, state, now }: ClockChange): void {
  const clock = new Date(now).toISOString()
  if (!state.doubt) {
    log.info({ clock }, 'the clock is trusted again, deletion resumes')
    return
  }
  const fields = { clock, lastSeen: new Date(before.seenAt).toISOString(), setting: TRUST_SETTING }
  log.warn(fields, 'the clock is far ahead of the last run, nothing old is deleted for a day')
}

async function load(file: string): Promise<ClockState | undefined> {
  try {
    const { seenAt, doubt } = JSON.parse(await readFile(file, 'utf8')) as ClockState
    if (!Number.isFinite(seenAt)) return undefined
    const isComplete = Number.isFinite(doubt?.since) && Number.isFinite(doubt?.lastAt)
    return { seenAt, doubt: isComplete ? doubt : undefined }
  } catch {
    return undefined
  }
}

/** Returns when the database file was last written; for a new store, the current time. */
async function lastWritten(folder: string): Promise<number> {
  const file = databaseFile(folder)
  const times = [file, `${file}-wal`].map(async (path) => {
    return (await stat(path).catch(() => undefined))?.mtimeMs ?? 0
  })
  return Math.max(...(await Promise.all(times))) || Date.now()
}
