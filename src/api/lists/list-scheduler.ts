import { limitConcurrency } from '../middleware/limit-concurrency.ts'
import type { ListQuery } from '../schemas/common/list-query.ts'

/**
 * How many long pages of one account are read from the database at once. More expensive lists are
 * read one at a time.
 */
const MAX_LONG_LISTS = 4
/**
 * How many short pages of one account are read at once; together they read no more than a long
 * page.
 */
const MAX_SHORT_PAGES = 16
/** Maximum jobs of a short page. */
const SHORT_PAGE_JOBS = 50
/** From this offset on, the database must count many jobs, unless the query has a cursor. */
const FAR_OFFSET = 10_000

/** The parameters that make a list expensive. */
type Cost = Pick<ListQuery, 'custom_metadata' | 'offset' | 'cursor' | 'limit'>

/** Decides when the lists of an account may read the database. */
export type ListScheduler = {
  /** Runs the search for the jobs of a page as soon as the limits allow it. */
  page<T>(account: string, query: Cost, work: () => Promise<T>): Promise<T>
  /** Loads some jobs of a page as soon as the limits allow it. */
  load<T>(account: string, work: () => Promise<T>): Promise<T>
}

/**
 * Creates the scheduler of lists. An account reads a few long pages and some short ones at once,
 * whose statements share messages to the database. It reads only one page at a time that searches
 * metadata or counts to a far offset, so that its searches do not delay other accounts.
 */
export function createListScheduler(): ListScheduler {
  const runLong = limitConcurrency(MAX_LONG_LISTS)
  const runShort = limitConcurrency(MAX_SHORT_PAGES)
  const runCostly = limitConcurrency()
  return {
    page(account, query, work) {
      if (isCostly(query)) return runCostly(account, work)
      return query.limit <= SHORT_PAGE_JOBS ? runShort(account, work) : runLong(account, work)
    },
    load: runLong,
  }
}

function isCostly({ custom_metadata, offset, cursor }: Cost): boolean {
  return custom_metadata !== undefined || (cursor === undefined && offset > FAR_OFFSET)
}
