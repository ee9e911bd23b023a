import { AppError } from '../../errors.ts'
import type { Db } from '../db.ts'
import { countHeldBytes, type HeldBytes, listKeyAccounts } from './account-bytes.ts'
import { type MeasureDisk, reserveOf } from './disk.ts'

/** What the operator set about space, in bytes. */
export type SpaceSettings = {
  /** What one account may hold; 0 = no limit, undefined = a share of the disk. */
  accountMaxBytes?: number | undefined
  /** What stays free for work that was accepted; undefined = by the size of the disk. */
  minFreeBytes?: number | undefined
  /** Accounts that have keys in the settings. */
  accounts?: readonly string[]
}

/** What space is judged by. */
export type SpaceOptions = SpaceSettings & { db: Db; disk: MeasureDisk }

/** New work is refused early; what was accepted may use all but the last part of the reserve. */
export type IntakeKind = 'new' | 'accepted'

/** Bytes that are being written for an account; they count as held until it is closed. */
export type SpaceIntake = Disposable & {
  /** Counts bytes about to be written; fails like `admit`, or for accepted work with `storage_full`. */
  add(bytes: number): Promise<void>
}

/** How much is there, in bytes. */
export type SpaceState = Pick<HeldBytes, 'total' | 'largest'> & {
  free: number
  reserve: number
  /** Whether new work is refused. */
  isLow: boolean
}

/** What accepted work leaves of the reserve: for rows, journals and live sessions, which cannot wait. */
const LAST_PART = 0.25
/** The disk is measured anew after so many bytes of one stream. */
const STEP_BYTES = 1024 * 1024
/** Unless the reserve is so small that this many of its parts are less. */
const STEPS_OF_RESERVE = 8
const MIN_STEP_BYTES = 64 * 1024
/** Seconds after which a client that was refused may be luckier: jobs end, the operator frees space. */
const RETRY_AFTER = 60
/** How long it is believed which accounts there are. */
const ACCOUNTS_FOR_MS = 10_000
/** Of several accounts, one may hold this part of what they all hold and could hold. */
const ACCOUNT_SHARE = 0.5

/**
 * Sees to it that the disk does not fill up: refuses new work below a reserve, holds accepted work back
 * that would not fit, and gives each account a share.
 */
export class Space {
  readonly #options: SpaceOptions
  /** Bytes being written, by account. */
  readonly #incoming = new Map<string, number>()
  /** Bytes that work in progress will yet write. */
  #planned = 0
  #accounts: { at: number; count: Promise<number> } | undefined

  constructor(options: SpaceOptions) {
    this.#options = options
  }

  /**
   * Fails unless an account may begin something new that keeps `bytes`: with `storage_low` below the
   * reserve, with `quota_exceeded` beyond the account's share.
   */
  async admit(account: string, bytes = 0): Promise<void> {
    const { free, reserve, isLow } = await this.#measure()
    if (isLow) {
      const detail = `${free} bytes are free, ${reserve} stay reserved (STENO_MIN_FREE_BYTES)`
      throw new AppError('storage_low', detail, { retryAfter: RETRY_AFTER })
    }
    await this.checkShare(account, bytes)
  }

  /** Fails with `quota_exceeded` when an account would hold more than its share with `bytes` more. */
  async checkShare(account: string, bytes = 0): Promise<void> {
    const { accountMaxBytes } = this.#options
    if (accountMaxBytes === 0) return
    if (accountMaxBytes === undefined && (await this.#countAccounts()) < 2) return
    const { own, total } = await countHeldBytes(this.#options.db, account)
    const held = own + (this.#incoming.get(account) ?? 0)
    const limit = accountMaxBytes ?? (await this.#shareOf(total))
    // Who is at the limit is over it with anything more.
    if (held + Math.max(1, bytes) <= limit) return
    const detail = `it holds ${held} of ${limit} bytes (STENO_ACCOUNT_MAX_BYTES); delete jobs to make room`
    throw new AppError('quota_exceeded', detail)
  }

  /** Begins to count what is written for an account. */
  open(account: string, kind: IntakeKind): SpaceIntake {
    let counted = 0
    let checkedAt = 0
    const add = async (bytes: number) => {
      counted += bytes
      this.#count(account, bytes)
      if (checkedAt > 0 && counted - checkedAt < this.#step) return
      checkedAt = counted
      await (kind === 'new' ? this.admit(account) : this.#admitAccepted(account, bytes))
    }
    return { add, [Symbol.dispose]: () => this.#count(account, -counted) }
  }

  /**
   * Keeps room for bytes that accepted work is about to write, until it is disposed of; fails with
   * `storage_full` when there is none now.
   */
  async plan(bytes: number): Promise<Disposable> {
    await this.#checkRoom(bytes)
    this.#planned += bytes
    return {
      [Symbol.dispose]: () => {
        this.#planned -= bytes
      },
    }
  }

  /** How much is there now. */
  async state(): Promise<SpaceState> {
    const { total, largest } = await countHeldBytes(this.#options.db, '')
    return { ...(await this.#measure()), total, largest }
  }

  /** Whether new work is refused, and by how much. */
  async check(): Promise<void> {
    const { free, reserve, isLow } = await this.#measure()
    if (isLow) throw new AppError('storage_low', `${free} bytes are free, ${reserve} stay reserved`)
  }

  /** Changes with the size of the disk, which hardly does. */
  #step = MIN_STEP_BYTES

  async #measure(): Promise<Pick<SpaceState, 'free' | 'reserve' | 'isLow'>> {
    const { disk, minFreeBytes } = this.#options
    const { free, size } = await disk()
    const reserve = reserveOf({ size }, minFreeBytes)
    this.#step = Math.max(MIN_STEP_BYTES, Math.min(STEP_BYTES, reserve / STEPS_OF_RESERVE))
    return { free, reserve, isLow: free < reserve }
  }

  async #admitAccepted(account: string, bytes: number): Promise<void> {
    await this.#checkRoom(bytes)
    await this.checkShare(account)
  }

  async #checkRoom(bytes: number): Promise<void> {
    const { free, reserve } = await this.#measure()
    if (free - this.#planned - bytes >= reserve * LAST_PART) return
    throw new AppError('storage_full', `${bytes} bytes are needed and too few are free`)
  }

  async #shareOf(total: number): Promise<number> {
    const { free, reserve } = await this.#measure()
    return Math.floor((total + Math.max(0, free - reserve)) * ACCOUNT_SHARE)
  }

  #count(account: string, bytes: number): void {
    const incoming = (this.#incoming.get(account) ?? 0) + bytes
    if (incoming > 0) this.#incoming.set(account, incoming)
    else this.#incoming.delete(account)
  }

  #countAccounts(): Promise<number> {
    const now = performance.now()
    if (!this.#accounts || now - this.#accounts.at > ACCOUNTS_FOR_MS) {
      const { db, accounts = [] } = this.#options
      const count = listKeyAccounts(db).then((stored) => new Set([...stored, ...accounts]).size)
      this.#accounts = { at: now, count }
    }
    return this.#accounts.count
  }
}
