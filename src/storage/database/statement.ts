import type { CompiledQuery, DatabaseConnection, Kysely, RawBuilder } from 'kysely'
import type { Database } from './db.ts'
import type { Dialect } from './dialect.ts'
import type { Tables } from './tables.ts'

/** A placeholder for a value in a statement that is built without it. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Runs a statement with these values, in the form that `shape` selects; returns its rows. */
export type Statement<Values, Row, Shape> = (
  db: Pick<Database, 'sql' | 'dialect'>,
  values: Values,
  ...shape: undefined extends Shape ? [] : [Shape]
) => Promise<Row[]>

/**
 * Creates a statement whose text is built once for each dialect and shape, because building it for
 * each of thousands of requests takes longer than finding a row. `build` may put each value into
 * the text any number of times, and do nothing else with it. A shape is JSON; there are few.
 */
export function statement<Values extends Record<string, unknown>, Row, Shape = undefined>(
  build: (values: Values, dialect: Dialect, shape: Shape) => RawBuilder<Row>,
): Statement<Values, Row, Shape> {
  const builtFor = new Map<Dialect, Map<string, CompiledQuery<Row>>>()
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values

  return async ({ sql, dialect }, values, ...[shape]) => {
    const built = builtFor.get(dialect) ?? new Map<string, CompiledQuery<Row>>()
    builtFor.set(dialect, built)
    const key = shape === undefined ? '' : JSON.stringify(shape)
    const query = built.get(key) ?? build(placeholders, dialect, shape as Shape).compile(sql)
    built.set(key, query)
    const parameters = query.parameters.map((parameter) => {
      return parameter instanceof Placeholder ? values[parameter.name] : parameter
    })
    const run = dialect.isPipelined ? await connectionOf(sql) : sql
    const { rows } = await run.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}

const connections = new WeakMap<Kysely<Tables>, Promise<DatabaseConnection>>()

/**
 * Returns the connection of a database or a transaction. Kysely itself would make each statement of
 * a transaction wait for the previous one, and needs as much time for a statement as finding a row
 * takes.
 */
function connectionOf(sql: Kysely<Tables>): Promise<DatabaseConnection> {
  const cachedConnection = connections.get(sql)
  if (cachedConnection) return cachedConnection
  const connection = sql.getExecutor().provideConnection(async (one) => one)
  connections.set(sql, connection)
  return connection
}
