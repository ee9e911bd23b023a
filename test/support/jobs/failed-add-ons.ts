import { findJob } from '../../../src/storage/jobs/jobs.ts'
import { readResult, replaceResult } from '../../../src/storage/jobs/results.ts'
import type { TestServer } from '../server/start-server.ts'

/** The part of a result for an add-on that broke down. */
export const failure = {
  success: false,
  is_empty: true,
  exec_time: 0,
  error: { status_code: 500, exception: 'AddonFailed', message: 'it broke down' },
  results: null,
}

type Result = Record<string, unknown> & { transcription: Record<string, unknown> }

/** Changes the result of a finished job as if add-ons of it had failed. */
export async function failAddOns(
  { app }: Pick<TestServer, 'app'>,
  { id, names }: { id: string; names: readonly string[] },
): Promise<void> {
  const { db } = app.storage
  const job = await findJob(db, { id, account: 'test' })
  const stored = job!.result!
  const result = JSON.parse((await readResult(db, stored))!) as Result
  for (const name of names) {
    if (name === 'subtitles') result.transcription.subtitles = []
    else result[name] = { ...failure, results: name === 'sentiment_analysis' ? '[]' : null }
    if (name === 'sentences') result.transcription.sentences = [failure]
  }
  await replaceResult(db, { jobId: id, stored }, result)
}
