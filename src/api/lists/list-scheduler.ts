import { limitConcurrency } from '../middleware/limit-concurrency.ts'
import type { ListQuery } from '../schemas/common/list-query.ts'

/** Lists of one account that read the database at once; those that cost more take turns. */
const LISTS_AT_ONCE = 4
/** The same for short pages: together they read no more than a long one. */
const SHORT_AT_ONCE = 16
/** Jobs of a short page. */
const SHORT_LIMIT = 50
/** From here on the database counts many jobs, unless a cursor gives the place. */
const FAR_OFFSET = 10_000

/** What makes a list costly. */
type Cost = Pick<ListQuery, 'custom_metadata' | 'offset' | 'cursor' | 'limit'>

/** When the lists of an account may read the database. */
export type ListScheduler = {
  /** Finds the jobs of a page in its turn. */
  page<T>(account: string, query: Cost, work: () => Promise<T>): Promise<T>
  /** Loads some jobs of a page in their turn. */
  load<T>(account: string, work: () => Promise<T>): Promise<T>
}

/**
 * Creates the scheduler of lists: an account reads a few long pages and some short ones at once,
 * whose statements share messages to the database, but only one that searches metadata or counts up
 * to a far offset, so that its searches do not delay other accounts.
 */
export function createListScheduler(): ListScheduler {
  const inTurn = limitConcurrency(LISTS_AT_ONCE)
  const shortInTurn = limitConcurrency(SHORT_AT_ONCE)
  const costlyInTurn = limitConcurrency()
  return {
    page(account, query, work) {
      if (isCostly(query)) return costlyInTurn(account, work)
      return query.limit <= SHORT_LIMIT ? shortInTurn(account, work) : inTurn(account, work)
    },
    load: inTurn,
  }
}

function isCostly({ custom_metadata, offset, cursor }: Cost): boolean {
  return custom_metadata !== undefined || (cursor === undefined && offset > FAR_OFFSET)
}
