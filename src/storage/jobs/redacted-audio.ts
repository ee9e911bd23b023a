import type { JobRow } from '../tables.ts'

/** The recording that is kept of a job in place of the original: an object, and its size in bytes. */
export type RedactedAudio = { object: string; size: number }

type RedactedColumns = Pick<JobRow, 'redacted_object' | 'redacted_size'>

/** What a row has to hold of it. */
export function redactedColumns({ object, size }: RedactedAudio): RedactedColumns {
  return { redacted_object: object, redacted_size: size }
}

/** What a row says of it; null where the original is kept. */
export function redactedAudio(row: RedactedColumns): RedactedAudio | null {
  const { redacted_object: object, redacted_size: size } = row
  return object === null || size === null ? null : { object, size }
}
