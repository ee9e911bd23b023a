import type { SpeechEngine } from '../../asr/speech-engine.ts'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import { listNodes } from '../../storage/database/nodes/nodes.ts'
import type { Storage } from '../../storage/storage.ts'
import {
  accountsOver,
  type CapacityRefusal,
  findCapacityRefusal,
  type Load,
} from './capacity-shares.ts'
import { findFreeNode, type PeerNode } from './nodes/placement.ts'
import type { ValidKeys } from './valid-keys.ts'

/** Options of the admission of sessions. */
export type AdmissionOptions = {
  config: Pick<Config, 'live' | 'node'>
  storage: Pick<Storage, 'db'>
  speech: Pick<SpeechEngine, 'live'>
  keys: Pick<ValidKeys, 'isAlone'>
  /** The sessions that this process runs. */
  active: () => ActiveLoads
}

/** The data on running sessions that admission needs. */
export type ActiveLoads = {
  size: number
  loads: Load[]
  /** The usual length of a session in seconds; undefined until one has ended. */
  meanSeconds: number | undefined
}

/**
 * The `Retry-After` seconds of a refused client while the usual length of sessions is unknown, and
 * their maximum.
 */
const DEFAULT_WAIT_SECONDS = 10
const MAX_WAIT_SECONDS = 60
/**
 * The fraction of the measured capacity that the first session of an account may use beyond it: the
 * measurement leaves a quarter of the processor free.
 */
const RESERVE = 0.25
/** How often the accounts that exceed their share are determined. */
const SHARE_CHECK_MS = 1000

/** Decides whether this process, or another node, can run one more session. */
export class Admission {
  readonly #options: AdmissionOptions
  #overFairShare: { at: number; accounts: Set<string> } = {
    at: Number.NEGATIVE_INFINITY,
    accounts: new Set(),
  }

  constructor(options: AdmissionOptions) {
    this.#options = options
  }

  /** Whether other nodes use the same database. */
  get isShared(): boolean {
    return this.#options.storage.db.isShared ?? false
  }

  /** Whether this process runs live sessions. */
  get isOffered(): boolean {
    return this.#canRunSessions && this.#options.config.live.slots !== 0
  }

  /** Whether this process could run sessions if its configuration allowed any. */
  get #canRunSessions(): boolean {
    const { config, speech } = this.#options
    return config.node.roles.includes('live') && speech.live !== undefined
  }

  /**
   * How many sessions of continuous speech this process can run, and what the open ones need;
   * undefined if it runs none, or before its capacity is measured.
   */
  get capacity(): { total: number; used: number } | undefined {
    if (!this.isOffered || this.#max === Number.POSITIVE_INFINITY) return undefined
    const used = this.#loads.reduce((sum, { weight }) => sum + weight, 0)
    return { total: this.#max, used: Math.round(used * 10) / 10 }
  }

  /**
   * Throws `live_unavailable` when the machine is full, and `too_many_sessions` when the account
   * has its share of it, unless another node has capacity.
   */
  async check(account: string): Promise<void> {
    const refusal = this.#canRunSessions ? await this.findRefusal(account) : undefined
    if (this.#canRunSessions && !refusal) return
    if (this.isShared && (await this.#findFreeNode())) return
    // A restart may enable live sessions, but the time is unknown.
    if (!refusal) {
      throw new AppError('live_unavailable', 'this server offers no live sessions', {
        retryAfter: MAX_WAIT_SECONDS,
      })
    }
    const retryAfter = this.secondsUntilCapacity()
    const [used, total, share] = [refusal.own, refusal.total, refusal.share].map(Math.round)
    if (refusal.reason === 'full') {
      const detail = `${total} of ${Math.round(this.#max)} sessions are in use (STENO_LIVE_SLOTS)`
      throw new AppError('live_unavailable', detail, { retryAfter })
    }
    const detail = `the account uses ${used} of its share of ${share} on this machine (STENO_LIVE_SLOTS)`
    throw new AppError('too_many_sessions', detail, { retryAfter })
  }

  /**
   * Returns why one more session of an account does not fit here now; undefined if it fits.
   * Sessions that wait for their first client do not count.
   */
  async findRefusal(account: string): Promise<CapacityRefusal | undefined> {
    const { config, keys } = this.#options
    const isAlone = await keys.isAlone(account)
    const reserve = config.live.slots === undefined ? RESERVE : 0
    return findCapacityRefusal({ account, loads: this.#loads, max: this.#max, isAlone, reserve })
  }

  /**
   * Returns another node with free capacity, if this one runs no live sessions; none of those to
   * `avoid`.
   */
  async findOtherNode(avoid: readonly string[] = []): Promise<PeerNode | undefined> {
    return this.isShared && !this.isOffered ? this.#findFreeNode(avoid) : undefined
  }

  /** Returns whether an account exceeds its fair share of an overloaded machine. */
  isOverFairShare(account: string): boolean {
    const at = performance.now()
    if (at > this.#overFairShare.at + SHARE_CHECK_MS) {
      this.#overFairShare = { at, accounts: accountsOver(this.#loads, this.#max) }
    }
    return this.#overFairShare.accounts.has(account)
  }

  /** Returns the seconds after which a session has probably ended. */
  secondsUntilCapacity(): number {
    const { size, meanSeconds } = this.#options.active()
    if (meanSeconds === undefined) return DEFAULT_WAIT_SECONDS
    const seconds = meanSeconds / Math.max(1, size)
    return Math.ceil(Math.min(MAX_WAIT_SECONDS, Math.max(1, seconds)))
  }

  async #findFreeNode(avoid: readonly string[] = []): Promise<PeerNode | undefined> {
    const { db } = this.#options.storage
    return findFreeNode(await listNodes(db), { self: db.nodeId, avoid })
  }

  /** Maximum load of the machine, in sessions. */
  get #max(): number {
    const { config, speech } = this.#options
    return config.live.slots ?? speech.live?.capacity ?? Number.POSITIVE_INFINITY
  }

  /**
   * The loads of the sessions. With a configured limit each session counts as one; with a measured
   * limit, each counts by its load.
   */
  get #loads(): Load[] {
    const { loads } = this.#options.active()
    if (this.#options.config.live.slots === undefined) return loads
    return loads.map((load) => ({ ...load, weight: 1 }))
  }
}
