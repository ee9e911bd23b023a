import { randomUUID } from 'node:crypto'
import { languagesBySpeech } from '../../../src/text/result/transcript-result.ts'
import type { UtteranceView } from '../../../src/transcript/utterance-view.ts'
import type { TestServer } from '../server/start-server.ts'

/** Stores a finished job of the account `test` with these utterances; resolves to its id. */
export async function addDoneJob(
  { app }: Pick<TestServer, 'app'>,
  utterances: readonly UtteranceView[],
  { kind = 'pre-recorded', fileId = null }: Given = {},
): Promise<string> {
  const id = randomUUID()
  const seconds = utterances.at(-1)?.end ?? 0
  const metadata = {
    audio_duration: seconds,
    number_of_distinct_channels: 1,
    billing_time: seconds,
    transcription_time: 1,
    warnings: [],
  }
  const full_transcript = utterances.map(({ text }) => text.trim()).join(' ')
  const languages = languagesBySpeech(utterances)
  const result = { metadata, transcription: { full_transcript, languages, utterances } }
  const row = {
    id,
    account: 'test',
    kind,
    status: 'done' as const,
    run_after: 0,
    created_at: Date.now(),
    completed_at: Date.now(),
    post_session_metadata: '{}',
    result: JSON.stringify(result),
    ...(fileId && { file_id: fileId, file_duration: seconds, file_channels: 1 }),
  }
  await app.storage.db.sql
    .insertInto('jobs')
    .values(row as never)
    .execute()
  return id
}

type Given = { kind?: 'pre-recorded' | 'live'; fileId?: string | null }
