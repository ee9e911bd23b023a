import type { JobRow } from './tables.ts'

/** The recording that is kept of a job in place of the original: an object, and its size in bytes. */
export type RedactedSound = { object: string; size: number }

type RedactedColumns = Pick<JobRow, 'redacted_object' | 'redacted_size'>

/** What a row has to hold of it. */
export function redactedColumns({ object, size }: RedactedSound): RedactedColumns {
  return { redacted_object: object, redacted_size: size }
}

/** What a row says of it; null where the original is kept. */
export function redactedSound(row: RedactedColumns): RedactedSound | null {
  const { redacted_object: object, redacted_size: size } = row
  return object === null || size === null ? null : { object, size }
}
