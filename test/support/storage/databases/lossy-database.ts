import type { Db } from '../../../../src/storage/database/db.ts'

/**
 * Wraps a database. After `loseNext` the next transaction is made, but its response is lost, as
 * when the connection breaks off at the commit.
 */
export function createLossyDatabase(db: Db): { db: Db; loseNext(): void } {
  const lost = new Error('Connection terminated unexpectedly')
  let isNext = false
  type Execute = ReturnType<Db['sql']['transaction']>['execute']
  const transaction = () => ({
    async execute(work: Parameters<Execute>[0]) {
      const result = await db.sql.transaction().execute(work)
      if (!isNext) return result
      isNext = false
      throw lost
    },
  })
  const sql = new Proxy(db.sql, {
    get(target, name) {
      if (name === 'transaction') return transaction
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const dialect = { ...db.dialect, isOutcomeUnknown: (error: unknown) => error === lost }
  return {
    db: { ...db, sql, dialect },
    loseNext() {
      isNext = true
    },
  }
}
