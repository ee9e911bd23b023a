import { createFakeSpeechEngine } from '../../asr/fake-speech-engine.ts'
import { synthesizeAudio } from '../../audio/synthesize-audio.ts'
import { call } from '../../net/http-client.ts'
import { startServer, type TestServer } from '../../server/start-server.ts'

/** The fields of a session that tests check. */
export type SessionJob = {
  status: string
  error_code: number | null
  result: { messages: string[] } | null
}

/** Two utterances with a pause. */
export const speech = synthesizeAudio('....##########.....########.....')

/** Returns the job of a session. */
export async function jobOf(id: string, of: Pick<TestServer, 'url' | 'key'>): Promise<SessionJob> {
  return (await call<SessionJob>(of, `/v2/live/${id}`)).body
}

/** Polls until the job is as expected. */
export async function waitForJob(
  id: string,
  is: (job: SessionJob) => boolean,
  of: TestServer,
): Promise<SessionJob> {
  for (;;) {
    const job = await jobOf(id, of)
    if (is(job)) return job
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Starts a server with other settings, for one test. */
export async function withServer(
  env: Record<string, string>,
  work: (server: TestServer) => Promise<void>,
): Promise<void> {
  const other = await startServer({ speech: createFakeSpeechEngine('hello'), env })
  try {
    await work(other)
  } finally {
    await other.close()
  }
}
