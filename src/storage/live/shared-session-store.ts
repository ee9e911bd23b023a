import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { throwStorageError } from '../data-folder/storage-error.ts'
import type { Db } from '../database/db.ts'
import {
  createDiskSessionStore,
  type DiskSessionStore,
  openDiskSessionStore,
  removeDiskSessionStore,
} from './disk-session-store.ts'
import { settled } from './session-appender.ts'
import {
  type BatchOutcome,
  type BatchWriter,
  deleteBatches,
  readBatches,
  type SessionBatch,
} from './session-batches.ts'
import type { SessionSizes } from './session-store.ts'

/** A session whose audio and log are in the shared database, with a local copy. */
export type SharedSessionOptions = {
  db: Db
  writer: BatchWriter
  jobId: string
  /** The epoch of its lease. */
  epoch: number
  /** The folder of the copy, whose content is replaced. */
  folder: string
  /** The folder of a session that began before the database was shared. */
  earlierFolder: string
  audioAfter(line: string): number | undefined
  /** Called when another process has taken the session over. */
  onTaken(): void
}

type SessionData = { audio: Uint8Array; log: Buffer }

/** The local copy of a session, and the number of the next batch. */
type LocalSessionCopy = { local: DiskSessionStore; next: number }

/** How many times a session is read again because its last owner wrote more in the meantime. */
const MAX_READS = 20
/** The pause before another attempt to store a batch. */
const RETRY_MS = 500

/**
 * Opens a session under its lease: copies what earlier owners stored to this machine, and stores a
 * batch of its own, after which they can store nothing more. `isNew` means that nothing was stored
 * before.
 *
 * All data is written to the copy, which recognition reads, and with the next `sync` to the
 * database. Only data in the database is durable; `close` removes the copy.
 */
export async function openSharedStore(
  session: SharedSessionOptions,
): Promise<{ store: DiskSessionStore; isNew: boolean }> {
  const copy = await copySession(session)
  const { local } = copy
  try {
    let earlier: SessionData | undefined
    for (let reads = 0; ; reads++) {
      const isEmpty = local.audioBytes === 0 && local.logBytes === 0
      earlier = isEmpty ? await readEarlier(session) : undefined
      const batch = { ...batchOf(session, copy.next), ...earlier }
      if ((await session.writer.append(batch)) === 'stored') break
      if (reads === MAX_READS) throw new Error('other servers keep writing to the session')
      copy.next = await copyBatches(session, local, copy.next)
    }
    if (earlier) await local.write(earlier.audio, logLines(earlier.log))
    const isNew = copy.next === 0 && !earlier
    copy.next++
    return { store: sharedStore(session, copy), isNew }
  } catch (error) {
    await local.close()
    await removeDiskSessionStore(session.folder)
    throw error
  }
}

/** Copies a session that is not leased; undefined if nothing of it is stored. */
export async function copyAbandonedSession(
  session: Pick<SharedSessionOptions, 'db' | 'jobId' | 'folder'>,
): Promise<DiskSessionStore | undefined> {
  const { local, next } = await copySession(session)
  if (next > 0) return local
  await local.close()
  await removeDiskSessionStore(session.folder)
  return undefined
}

async function copySession(
  session: Pick<SharedSessionOptions, 'db' | 'jobId' | 'folder'>,
): Promise<LocalSessionCopy> {
  await rm(session.folder, { recursive: true, force: true }).catch(throwStorageError)
  const local = await createDiskSessionStore(session.folder)
  try {
    return { local, next: await copyBatches(session, local, 0) }
  } catch (error) {
    await local.close()
    throw error
  }
}

/** Appends the batches from number `from` on; returns the number after the last one. */
async function copyBatches(
  { db, jobId }: Pick<SharedSessionOptions, 'db' | 'jobId'>,
  local: DiskSessionStore,
  from: number,
): Promise<number> {
  let next = from
  for await (const page of readBatches(db, jobId, from)) {
    const writes = page.map(({ audio, log }) => local.write(audio, logLines(log)))
    await Promise.all(writes)
    next = page.at(-1)!.seq + 1
  }
  return next
}

/** Reads the data that a server stored on this machine before sessions were shared. */
async function readEarlier({
  earlierFolder,
  audioAfter,
}: SharedSessionOptions): Promise<SessionData | undefined> {
  const earlier = await openDiskSessionStore(earlierFolder, { audioAfter }).catch((error) => {
    if (error instanceof AppError && error.code === 'file_not_found') return undefined
    throw error
  })
  if (!earlier) return undefined
  try {
    const lines = (await Array.fromAsync(earlier.readLines())).flat()
    return { audio: await earlier.readAudio(0, earlier.audioBytes), log: linesToBytes(lines) }
  } finally {
    await earlier.close()
  }
}

function batchOf({ db, jobId, epoch }: SharedSessionOptions, seq: number) {
  const writer = `${db.nodeId}:${epoch}`
  return { jobId, seq, writer, epoch, audio: new Uint8Array(0), log: new Uint8Array(0) }
}

function sharedStore(
  session: SharedSessionOptions,
  { local, next }: LocalSessionCopy,
): DiskSessionStore {
  const { db, jobId, folder, earlierFolder } = session
  const batches = new BatchSync(session, { local, next })
  return {
    audioPath: local.audioPath,
    audioStart: local.audioStart,
    get audioBytes() {
      return local.audioBytes
    },
    get logBytes() {
      return local.logBytes
    },
    write: (audio, lines) => batches.write(audio, lines),
    sync: () => batches.sync(),
    readAudio: (from, to) => local.readAudio(from, to),
    readLines: () => local.readLines(),
    readDurableLines: (start) => local.readWrittenLines({ start, size: batches.durable.logBytes }),
    readWrittenLines: (part) => local.readWrittenLines(part),
    async close() {
      await batches.close()
      await local.close()
      await removeDiskSessionStore(folder)
    },
    async delete() {
      await deleteBatches(db, jobId)
      await removeDiskSessionStore(folder)
      await removeDiskSessionStore(earlierFolder)
    },
  }
}

/** Data that is in the copy but not yet in the database. */
type PendingWrites = { audio: Uint8Array[]; lines: string[] }

/** Writes to the copy, and with each sync stores the new data as a batch in the database. */
class BatchSync {
  /** The sizes of the data in the database. */
  readonly durable: SessionSizes
  readonly #session: SharedSessionOptions
  readonly #local: DiskSessionStore
  readonly #closing = new AbortController()
  #seq: number
  #pending: PendingWrites = { audio: [], lines: [] }
  #lastWrite: Promise<void> = Promise.resolve()
  #nextSync: Promise<SessionSizes> | undefined
  #lastSync: Promise<unknown> = Promise.resolve()
  /** Whether a write to the copy has failed since the last successful sync of the copy. */
  #isDoubtful = false
  /** The error after which every call fails. */
  #fatal: { error: unknown } | undefined

  constructor(session: SharedSessionOptions, { local, next }: LocalSessionCopy) {
    this.durable = { audioBytes: local.audioBytes, logBytes: local.logBytes }
    this.#session = session
    this.#local = local
    this.#seq = next
  }

  write(audio: Uint8Array | undefined, lines: readonly string[]): Promise<void> {
    if (this.#fatal) return Promise.reject(this.#fatal.error)
    const bytes = Buffer.from(audio ?? [])
    this.#lastWrite = this.#keep(this.#local.write(bytes, lines), bytes, [...lines])
    return this.#lastWrite
  }

  /** Waits for a write to the copy; if it succeeds, the next sync stores it in the database. */
  async #keep(written: Promise<void>, audio: Uint8Array, lines: readonly string[]): Promise<void> {
    try {
      await written
    } catch (error) {
      this.#isDoubtful = true
      throw error
    }
    if (audio.length > 0) this.#pending.audio.push(audio)
    this.#pending.lines.push(...lines)
  }

  sync(): Promise<SessionSizes> {
    if (!this.#nextSync) {
      this.#nextSync = settled(this.#lastSync).then(() => this.#syncNow())
      this.#lastSync = this.#nextSync
    }
    return this.#nextSync
  }

  async #syncNow(): Promise<SessionSizes> {
    this.#nextSync = undefined
    await settled(this.#lastWrite)
    if (this.#fatal) throw this.#fatal.error
    if (this.#isDoubtful) {
      await this.#local.sync()
      this.#isDoubtful = false
    }
    const { audio, lines } = this.#pending
    this.#pending = { audio: [], lines: [] }
    if (audio.length > 0 || lines.length > 0) await this.#store({ audio, lines })
    return { ...this.durable }
  }

  async #store({ audio, lines }: PendingWrites): Promise<void> {
    const { writer, onTaken } = this.#session
    const written = { audio: Buffer.concat(audio), log: linesToBytes(lines) }
    const batch = { ...batchOf(this.#session, this.#seq), ...written }
    const outcome = await storeBatch(writer, batch, this.#closing.signal).catch((error) => {
      this.#fatal ??= { error }
      throw error
    })
    if (outcome === 'taken') {
      this.#fatal = { error: new Error('another node has taken the session') }
      onTaken()
      throw this.#fatal.error
    }
    this.#seq++
    this.durable.audioBytes += batch.audio.length
    this.durable.logBytes += batch.log.length
  }

  async close(): Promise<void> {
    await settled(this.#lastWrite)
    this.#closing.abort()
    await settled(this.#lastSync)
    this.#fatal ??= { error: new Error('the session is closed') }
  }
}

function linesToBytes(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

function logLines(log: Buffer): string[] {
  return log.length === 0 ? [] : log.toString('utf8').slice(0, -1).split('\n')
}

/**
 * Stores a batch. Waits for an unavailable database until `closing` aborts; meanwhile nothing is
 * acknowledged.
 */
async function storeBatch(
  writer: BatchWriter,
  batch: SessionBatch,
  closing: AbortSignal,
): Promise<BatchOutcome> {
  for (;;) {
    try {
      return await writer.append(batch)
    } catch (error) {
      if (closing.aborted) throw error
      await delay(RETRY_MS, undefined, { signal: closing }).catch(() => {})
    }
  }
}
