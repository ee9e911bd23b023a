import { type EnvReader, MAX_TIMER_S } from '../env-reader.ts'

/** The settings of a PostgreSQL database. */
export type DatabaseConfig = {
  /** `postgres://user:password@host:port/name`; the password appears nowhere else. */
  url: string
  /** Connections of this process; some of them are kept for lists. */
  connections: number
  /** Seconds that one statement may take. */
  statementSeconds: number
  /** Seconds that a start waits for a database that cannot be reached. */
  startSeconds: number
}

/** Reads the settings of PostgreSQL; undefined for SQLite in the data folder. */
export function readDatabase(read: EnvReader): DatabaseConfig | undefined {
  const settings = {
    connections: read.integer('DATABASE_CONNECTIONS', 10, { min: 2, max: 1000 }),
    statementSeconds: read.integer('DATABASE_TIMEOUT_S', 30, { min: 1, max: MAX_TIMER_S }),
    startSeconds: read.integer('DATABASE_START_S', 60),
  }
  const url = read.url('DATABASE_URL', /^postgres(ql)?:/, 'postgres')
  return url === undefined ? undefined : { url, ...settings }
}
