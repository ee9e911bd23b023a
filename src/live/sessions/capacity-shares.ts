/** The load of one session of an account on the machine: 1 = continuous speech. */
export type Load = { account: string; weight: number }

/** The input for deciding on one more session. */
export type ShareOptions = {
  account: string
  loads: readonly Load[]
  /** The maximum load of the machine. */
  max: number
  /** Whether no other account has a key, so that the whole machine belongs to this one. */
  isAlone: boolean
  /**
   * How much the machine can run beyond `max` for a short time, as a fraction of `max`: the first
   * session of an account may use it.
   */
  reserve: number
}

/**
 * Why one more session does not fit: the machine is full, or the account has its share. `own` and
 * `total` are the current loads of the account and the machine.
 */
export type CapacityRefusal = {
  reason: 'full' | 'share'
  own: number
  total: number
  share: number
}

/** Tolerance for sums of fractions, which are not exact. */
const ROUNDING = 1e-6

/**
 * Decides whether one more session fits. A single account may use the whole machine; otherwise an
 * account gets no more than an equal part, and half while no other one has sessions, so that there
 * is always capacity for the first sessions of another account.
 */
export function findCapacityRefusal(options: ShareOptions): CapacityRefusal | undefined {
  const { account, loads, max, isAlone, reserve } = options
  const total = sum(loads)
  const used = sum(loads.filter((load) => load.account === account))
  const share = isAlone
    ? max
    : shareOf(max, new Set(loads.map((load) => load.account)).add(account))
  const load = { own: used, total, share }
  const isFirst = used === 0
  const limit = isFirst && !isAlone ? max * (1 + reserve) : max
  if (total + 1 > limit + ROUNDING) return { ...load, reason: 'full' }
  return !isFirst && used + 1 > share + ROUNDING ? { ...load, reason: 'share' } : undefined
}

/** Returns the accounts that exceed an equal part of an overloaded machine. */
export function accountsOver(loads: readonly Load[], max: number): Set<string> {
  if (sum(loads) <= max) return new Set()
  const accounts = new Set(loads.map(({ account }) => account))
  const isOver = (otherAccount: string) => {
    return sum(loads.filter(({ account }) => account === otherAccount)) > max / accounts.size
  }
  return accounts.size < 2 ? new Set() : new Set([...accounts].filter(isOver))
}

function shareOf(max: number, accounts: ReadonlySet<string>): number {
  return Math.max(1, Math.ceil(max / Math.max(2, accounts.size)))
}

function sum(loads: readonly Load[]): number {
  return loads.reduce((total, { weight }) => total + weight, 0)
}
