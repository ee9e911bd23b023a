/** What one session of an account takes of the machine: 1 = it speaks all the time. */
export type Load = { account: string; weight: number }

/** One more session is asked for. */
export type ShareOptions = {
  account: string
  loads: readonly Load[]
  /** What the machine carries. */
  most: number
  /** Nobody else has a key: there is nobody to share with. */
  isAlone: boolean
  /** How much more it carries for a moment, as a part of `most`: the first session of an account may have that. */
  reserve: number
}

/** Why one more session does not fit: the machine is full, or the account has its share. */
export type Refusal = { reason: 'full' | 'share'; own: number; total: number; share: number }

/** Sums of fractions are not exact. */
const ROUNDING = 1e-6

/**
 * Judges whether one more session fits. An account alone may have all of the machine; else no more than an
 * equal part of it, and half while no other one has sessions, so that there is always place for the first
 * ones of another.
 */
export function findRefusal(options: ShareOptions): Refusal | undefined {
  const { account, loads, most, isAlone, reserve } = options
  const total = sum(loads)
  const own = sum(loads.filter((load) => load.account === account))
  const share = isAlone
    ? most
    : shareOf(most, new Set(loads.map((load) => load.account)).add(account))
  const judged = { own, total, share }
  const isFirst = own === 0
  const limit = isFirst && !isAlone ? most * (1 + reserve) : most
  if (total + 1 > limit + ROUNDING) return { ...judged, reason: 'full' }
  return !isFirst && own + 1 > share + ROUNDING ? { ...judged, reason: 'share' } : undefined
}

/** Accounts that hold more than an equal part of a machine which has more to carry than it can. */
export function accountsOver(loads: readonly Load[], most: number): Set<string> {
  if (sum(loads) <= most) return new Set()
  const accounts = new Set(loads.map(({ account }) => account))
  const isOver = (one: string) => {
    return sum(loads.filter(({ account }) => account === one)) > most / accounts.size
  }
  return accounts.size < 2 ? new Set() : new Set([...accounts].filter(isOver))
}

function shareOf(most: number, accounts: ReadonlySet<string>): number {
  return Math.max(1, Math.ceil(most / Math.max(2, accounts.size)))
}

function sum(loads: readonly Load[]): number {
  return loads.reduce((total, { weight }) => total + weight, 0)
}
