import { limitConcurrency } from '../middleware/limit-concurrency.ts'
import type { ListQuery } from '../schemas/common/list-query.ts'

/** Long lists of one account that read the database at once; more expensive lists take turns. */
const LISTS_AT_ONCE = 4
/** Short pages that do so; together they read no more than a long one. */
const SHORT_AT_ONCE = 16
/** The most jobs of a short page. */
const SHORT_LIMIT = 50
/** From this offset on, the database must count many jobs, unless the query has a cursor. */
const FAR_OFFSET = 10_000

/** The parameters that make a list expensive. */
type Cost = Pick<ListQuery, 'custom_metadata' | 'offset' | 'cursor' | 'limit'>

/** Decides when the lists of an account may read the database. */
export type ListScheduler = {
  /** Runs the search for the jobs of a page when it is its turn. */
  page<T>(account: string, query: Cost, work: () => Promise<T>): Promise<T>
  /** Runs the loading of some jobs of a page when it is its turn. */
  load<T>(account: string, work: () => Promise<T>): Promise<T>
}

/**
 * Creates the scheduler of lists. An account reads a few long pages and some short ones at once,
 * whose statements share messages to the database. It reads only one page at a time that searches
 * metadata or counts to a far offset, so that its searches do not delay other accounts.
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
