import { AppError } from '../../errors.ts'
import { addToCount } from '../../numbers.ts'
import { countStoredBytes, listKeyAccounts, type StoredBytes } from '../accounts/account-bytes.ts'
import type { Db } from '../database/db.ts'
import { type MeasureDisk, reserveOf } from './disk.ts'

/** The operator's settings for disk space, in bytes. */
export type SpaceSettings = {
  /** The limit of one account; 0 means no limit, undefined a share of the disk. */
  accountMaxBytes?: number | undefined
  /** Bytes that stay free for accepted work; if undefined, they depend on the size of the disk. */
  minFreeBytes?: number | undefined
  /** Accounts that have keys in the settings. */
  accounts?: readonly string[]
}

/** The dependencies of `DiskSpace`. */
export type DiskSpaceOptions = SpaceSettings & { db: Db; disk: MeasureDisk }

/**
 * New work is refused below the reserve. Accepted work may use all of the reserve except for
 * `URGENT_SHARE`.
 */
export type WorkKind = 'new' | 'accepted'

/** Bytes that are being written for an account. They count as stored until it is closed. */
export type DiskReservation = Disposable & {
  /**
   * Counts bytes before they are written. Fails like `checkAccount` or, for accepted work, with
   * `storage_full`.
   */
  add(bytes: number): Promise<void>
}

/** The state of the disk space, in bytes. */
export type SpaceState = Pick<StoredBytes, 'total' | 'largest'> & {
  free: number
  reserve: number
  /** Whether new work is refused. */
  isLow: boolean
}

/**
 * The part of the reserve that accepted work must not use: rows, journals and live sessions, which
 * cannot wait, need it.
 */
const URGENT_SHARE = 0.25
/** Maximum bytes of a stream between two measurements of the disk. */
const STEP_BYTES = 1024 * 1024
/** The disk is measured at least this often while one stream fills the reserve. */
const STEPS_OF_RESERVE = 8
const MIN_STEP_BYTES = 64 * 1024
/**
 * Seconds after which a refused client may retry: jobs may have ended, or the operator may have
 * freed space.
 */
const RETRY_AFTER = 60
/** How long the number of accounts is cached. */
const ACCOUNTS_VALID_MS = 10_000
/**
 * The limit of one of several accounts: this share of what all of them store plus the free space.
 */
const ACCOUNT_SHARE = 0.5

/**
 * Keeps the disk from filling up: refuses new work below a reserve, delays accepted work that would
 * not fit, and gives each account a share.
 */
export class DiskSpace {
  readonly #options: DiskSpaceOptions
  /** Bytes being written, by account. */
  readonly #incoming = new Map<string, number>()
  /** Bytes that current work is still going to write. */
  #planned = 0
  #accounts: { at: number; count: Promise<number> } | undefined

  constructor(options: DiskSpaceOptions) {
    this.#options = options
  }

  /**
   * Fails if an account may not start new work that stores `bytes`: with `storage_low` below the
   * reserve, with `quota_exceeded` above the account's share.
   */
  async checkAccount(account: string, bytes = 0): Promise<void> {
    const { free, reserve, isLow } = await this.#measure()
    if (isLow) {
      const detail = `${free} bytes are free, ${reserve} stay reserved (STENO_MIN_FREE_BYTES)`
      throw new AppError('storage_low', detail, { retryAfter: RETRY_AFTER })
    }
    await this.checkQuota(account, bytes)
  }

  /** Fails with `quota_exceeded` if `bytes` more would exceed the account's share. */
  async checkQuota(account: string, bytes = 0): Promise<void> {
    // Most servers have one account, and this is called often.
    if (!(await this.#hasLimit())) return
    const { held, limit = Number.POSITIVE_INFINITY } = await this.readQuota(account)
    // At its limit, an account cannot store anything more.
    if (held + Math.max(1, bytes) <= limit) return
    const detail = `it holds ${held} of ${limit} bytes (STENO_ACCOUNT_MAX_BYTES); delete jobs to free space`
    throw new AppError('quota_exceeded', detail)
  }

  /** Returns the bytes that an account stores, and its limit; undefined means no limit. */
  async readQuota(account: string): Promise<{ held: number; limit: number | undefined }> {
    const { accountMaxBytes, db } = this.#options
    const { accountBytes, total } = await countStoredBytes(db, account)
    const heldBytes = accountBytes + (this.#incoming.get(account) ?? 0)
    if (!(await this.#hasLimit())) return { held: heldBytes, limit: undefined }
    return { held: heldBytes, limit: accountMaxBytes ?? (await this.#shareOf(total)) }
  }

  /** Returns whether accounts have a limit: by default, the only account may use the whole disk. */
  async #hasLimit(): Promise<boolean> {
    const { accountMaxBytes } = this.#options
    return accountMaxBytes === undefined ? (await this.#countAccounts()) > 1 : accountMaxBytes > 0
  }

  /** Starts counting the bytes that are written for an account. */
  openReservation(account: string, kind: WorkKind): DiskReservation {
    let counted = 0
    let checkedAt = 0
    const add = async (bytes: number) => {
      counted += bytes
      addToCount(this.#incoming, account, bytes)
      if (checkedAt > 0 && counted - checkedAt < this.#step) return
      checkedAt = counted
      await (kind === 'new' ? this.checkAccount(account) : this.#checkAccepted(account, bytes))
    }
    return { add, [Symbol.dispose]: () => addToCount(this.#incoming, account, -counted) }
  }

  /**
   * Reserves space for bytes that accepted work is about to write, until disposed. Fails with
   * `storage_full` if there is not enough now.
   */
  async reserveBytes(bytes: number): Promise<Disposable> {
    await this.#checkCapacity(bytes)
    this.#planned += bytes
    return {
      [Symbol.dispose]: () => {
        this.#planned -= bytes
      },
    }
  }

  /** Returns the current state. */
  async state(): Promise<SpaceState> {
    const { total, largest } = await countStoredBytes(this.#options.db, '')
    return { ...(await this.#measure()), total, largest }
  }

  /** Fails with `storage_low` while new work is refused, with the free and the reserved bytes. */
  async check(): Promise<void> {
    const { free, reserve, isLow } = await this.#measure()
    if (isLow) throw new AppError('storage_low', `${free} bytes are free, ${reserve} stay reserved`)
  }

  /** Bytes of a stream between two measurements; depends only on the size of the disk. */
  #step = MIN_STEP_BYTES

  async #measure(): Promise<Pick<SpaceState, 'free' | 'reserve' | 'isLow'>> {
    const { disk, minFreeBytes } = this.#options
    const { free, size } = await disk()
    const reserve = reserveOf({ size }, minFreeBytes)
    this.#step = Math.max(MIN_STEP_BYTES, Math.min(STEP_BYTES, reserve / STEPS_OF_RESERVE))
    return { free, reserve, isLow: free < reserve }
  }

  async #checkAccepted(account: string, bytes: number): Promise<void> {
    await this.#checkCapacity(bytes)
    await this.checkQuota(account)
  }

  async #checkCapacity(bytes: number): Promise<void> {
    const { free, reserve } = await this.#measure()
    if (free - this.#planned - bytes >= reserve * URGENT_SHARE) return
    throw new AppError('storage_full', `${bytes} bytes are needed and too few are free`)
  }

  async #shareOf(total: number): Promise<number> {
    const { free, reserve } = await this.#measure()
    return Math.floor((total + Math.max(0, free - reserve)) * ACCOUNT_SHARE)
  }

  #countAccounts(): Promise<number> {
    const now = performance.now()
    if (this.#accounts && now - this.#accounts.at <= ACCOUNTS_VALID_MS) return this.#accounts.count
    const { db, accounts = [] } = this.#options
    const count = listKeyAccounts(db).then((stored) => new Set([...stored, ...accounts]).size)
    this.#accounts = { at: now, count }
    count.catch(() => {
      if (this.#accounts?.count === count) this.#accounts = undefined
    })
    return count
  }
}
