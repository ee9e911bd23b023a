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

/**
 * A connection that accepts statements while earlier ones run, and runs them in order. `runBatch`
 * runs statements in a transaction of their own, which is sent at once, or none of them; it returns
 * the rows of each.
 */
export type PipelinedConnection = DatabaseConnection & {
  runBatch(queries: readonly CompiledQuery[]): Promise<unknown[][]>
}

/** The values of a statement, and the shape that selects its form. */
type StatementRequest<Values, Shape> = [
  db: Pick<Database, 'sql' | 'dialect'>,
  values: Values,
  ...shape: undefined extends Shape ? [] : [Shape],
]

/** A statement with values in the places where they are needed. */
export type Statement<Values, Row, Shape> = {
  /** Runs the statement and returns its rows. */
  (...request: StatementRequest<Values, Shape>): Promise<Row[]>
  /** Returns the statement with these values, for a batch. */
  toQuery(...request: StatementRequest<Values, Shape>): CompiledQuery<Row>
}

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

  function toQuery(...request: StatementRequest<Values, Shape>): CompiledQuery<Row> {
    const [{ sql, dialect }, values, shape] = request
    const built = builtFor.get(dialect) ?? new Map<string, CompiledQuery<Row>>()
    builtFor.set(dialect, built)
    const key = shape === undefined ? '' : JSON.stringify(shape)
    const query = built.get(key) ?? build(placeholders, dialect, shape as Shape).compile(sql)
    built.set(key, query)
    const parameters = query.parameters.map((parameter) => {
      return parameter instanceof Placeholder ? values[parameter.name] : parameter
    })
    return { ...query, parameters }
  }
  async function run(...request: StatementRequest<Values, Shape>): Promise<Row[]> {
    const [{ sql, dialect }] = request
    const connection = dialect.isPipelined ? await connectionOf(sql) : sql
    const { rows } = await connection.executeQuery<Row>(toQuery(...request))
    return rows
  }
  return Object.assign(run, { toQuery })
}

/**
 * Runs statements in a transaction of their own, or none of them, and returns the rows of each.
 * Only for databases whose dialect `isPipelined`.
 */
export async function runBatch(
  { sql }: Pick<Database, 'sql'>,
  queries: readonly CompiledQuery[],
): Promise<unknown[][]> {
  return (await connectionOf(sql)).runBatch(queries)
}

const connections = new WeakMap<Kysely<Tables>, Promise<PipelinedConnection>>()

/**
 * Returns the connection of a database or a transaction. Kysely itself would make each statement of
 * a transaction wait for the previous one, and needs as much time for a statement as finding a row
 * takes.
 */
function connectionOf(sql: Kysely<Tables>): Promise<PipelinedConnection> {
  const cachedConnection = connections.get(sql)
  if (cachedConnection) return cachedConnection
  const executor = sql.getExecutor()
  const connection = executor.provideConnection(async (one) => one as PipelinedConnection)
  connections.set(sql, connection)
  return connection
}
