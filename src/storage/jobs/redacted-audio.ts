import type { JobRow } from '../database/tables.ts'

/** The recording kept for a job in place of the original: an object, and its size in bytes. */
export type RedactedAudio = { object: string; size: number }

type RedactedColumns = Pick<JobRow, 'redacted_object' | 'redacted_size'>

/** Converts redacted audio to the columns of a row. */
export function redactedColumns({ object, size }: RedactedAudio): RedactedColumns {
  return { redacted_object: object, redacted_size: size }
}

/** Reads the redacted audio from a row; null if the job keeps the original. */
export function readRedactedAudio(row: RedactedColumns): RedactedAudio | null {
  const { redacted_object: object, redacted_size: size } = row
  return object === null || size === null ? null : { object, size }
}
