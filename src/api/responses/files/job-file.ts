import { parse } from 'node:path'
import { AppError } from '../../../errors.ts'
import type { Db } from '../../../storage/database/db.ts'
import type { Job } from '../../../storage/jobs/jobs.ts'
import { findRecording } from '../../../storage/recordings/recordings.ts'
import type { SentFile } from './send-file.ts'

/** Which recording of a job is requested. */
export type JobFileOptions = { db: Db; redacted: boolean }

/**
 * Finds the recording of a job: the original, or the one in which redacted words are beeped out.
 * Rejects with `file_not_found` if there is none.
 */
export function findJobFile(job: Job, { db, redacted }: JobFileOptions): Promise<SentFile> {
  return redacted ? findRedacted(job) : findOriginal(job, db)
}

async function findRedacted({ status, file, redactedAudio }: Job): Promise<SentFile> {
  if (!redactedAudio) {
    const reason = hasEnded(status) ? 'the job has no redacted recording' : 'the job has not ended'
    throw new AppError('file_not_found', reason)
  }
  const { object: id, size } = redactedAudio
  const name = parse(file?.filename ?? '').name || file?.id
  return { id, size, filename: `${name}-redacted.wav`, extension: 'wav' }
}

async function findOriginal(job: Job, db: Db): Promise<SentFile> {
  const { account, file, redactedAudio, kind, status } = job
  if (redactedAudio) {
    const reason = 'the original was not kept; redacted=true asks for the one that was'
    throw new AppError('file_not_found', reason)
  }
  const recording = file && (await findRecording(db, { id: file.id, account }))
  if (recording) return recording
  const isRunning = kind === 'live' && status === 'processing'
  const reason = hasEnded(status) ? 'the job has no audio' : 'the job has no audio yet'
  throw new AppError('file_not_found', isRunning ? 'the session has not ended' : reason)
}

function hasEnded(status: Job['status']): boolean {
  return status === 'done' || status === 'error'
}
