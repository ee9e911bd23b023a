import type { CompiledQuery, RawBuilder } from 'kysely'
import type { Database } from './db.ts'
import type { Dialect } from './dialect.ts'

/** Stands for a value in a statement that is built without it. */
class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Runs a statement with these values; resolves to its rows. */
export type Statement<Values, Row> = (
  db: Pick<Database, 'sql' | 'dialect'>,
  values: Values,
) => Promise<Row[]>

/**
 * Creates a statement whose text is built once for each dialect, for requests that come by the
 * thousand: building it anew takes longer than to find a row. `build` may put each value into the
 * text any number of times, and do nothing else with it.
 */
export function statement<Values extends Record<string, unknown>, Row>(
  build: (values: Values, dialect: Dialect) => RawBuilder<Row>,
): Statement<Values, Row> {
  const built = new Map<Dialect, CompiledQuery<Row>>()
  const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) }) as Values

  return async ({ sql, dialect }, values) => {
    const query = built.get(dialect) ?? build(placeholders, dialect).compile(sql)
    built.set(dialect, query)
    const parameters = query.parameters.map((one) => {
      return one instanceof Placeholder ? values[one.name] : one
    })
    const { rows } = await sql.executeQuery<Row>({ ...query, parameters })
    return rows
  }
}
