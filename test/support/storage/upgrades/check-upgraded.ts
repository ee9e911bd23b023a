import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import WebSocket from 'ws'
import { call } from '../../net/http-client.ts'
import { startServer, type TestServer } from '../../server/start-server.ts'
import type { ExpectedStore } from './upgrade-stores.ts'

type Job = {
  id: string
  status: string
  custom_metadata: unknown
  file: { audio_duration: number }
  result: { transcription: { full_transcript: string } }
}

/** Starts this version on what an earlier one left. */
export async function startUpgraded(
  t: TestContext,
  { key }: ExpectedStore,
  env: Record<string, string>,
): Promise<TestServer> {
  const settings = { STENO_API_KEYS: `acme:${key}`, STENO_DELIVERY_LOG_DAYS: '0' }
  const server = await startServer({ env: { ...env, ...settings } })
  t.after(() => server.close())
  return { ...server, key }
}

/** Asserts that a server has all that an earlier version left, and deletes a part of it. */
export async function checkUpgraded(server: TestServer, expected: ExpectedStore): Promise<void> {
  const get = async <T>(path: string) => (await call<T>(server, path)).body
  for (const { id, transcript, metadata } of expected.done) {
    const job = await get<Job>(`/v2/pre-recorded/${id}`)
    assert.equal(job.status, 'done')
    assert.equal(job.result.transcription.full_transcript, transcript)
    assert.deepEqual(job.custom_metadata, metadata)
    const file = await fetch(`${server.url}/v2/pre-recorded/${id}/file`, {
      headers: { 'x-service-key': server.key },
    })
    assert.equal((await file.arrayBuffer()).byteLength, 8099)
  }
  const { live, open, interrupted, done, storedKey, deliveries = [] } = expected
  if (live) {
    const session = await get<Job>(`/v2/live/${live.id}`)
    assert.equal(session.result.transcription.full_transcript, live.transcript)
  }
  if (open) await checkOpenSession(server, open)
  // The recording that nobody had finished.
  let status = 'queued'
  while (status === 'queued' || status === 'processing') {
    ;({ status } = await get<Job>(`/v2/pre-recorded/${interrupted}/progress?wait=10`))
  }
  assert.equal(status, 'done')
  const ids = [...done.map(({ id }) => id), interrupted, live?.id, open?.id]
  const listed = [
    ...(await get<{ items: Job[] }>('/v2/pre-recorded')).items,
    ...(await get<{ items: Job[] }>('/v2/live')).items,
  ]
  assert.deepEqual(listed.map(({ id }) => id).sort(), ids.filter((id) => id !== undefined).sort())
  const { items } = await get<{ items: { id: string }[] }>('/v2/deliveries')
  const known = new Set(items.map(({ id }) => id))
  assert.deepEqual(
    deliveries.filter((id) => !known.has(id)),
    [],
  )
  await checkFound(server, expected)
  if (storedKey) {
    const listed = await call({ ...server, key: storedKey }, `/v2/pre-recorded/${interrupted}`)
    assert.equal(listed.status, 200)
  }
  const { id } = done[0]!
  const deleted = await call(server, `/v2/pre-recorded/${id}`, { method: 'DELETE' })
  assert.equal(deleted.status, 202)
  assert.equal((await call(server, `/v2/pre-recorded/${id}`)).status, 404)
}

/** Its client comes back, unless it is too late for that; all acknowledged audio is in the end. */
async function checkOpenSession(
  server: TestServer,
  { id, path, seconds }: NonNullable<ExpectedStore['open']>,
): Promise<void> {
  const socket = new WebSocket(`${server.url}${path}`)
  socket.on('error', () => {})
  socket.on('open', () => socket.send(JSON.stringify({ type: 'stop_recording' })))
  await once(socket, 'close')
  let job: Job
  do job = (await call<Job>(server, `/v2/live/${id}?wait=10`)).body
  while (job.status === 'queued' || job.status === 'processing')
  assert.equal(job.status, 'done', JSON.stringify(job))
  assert.equal(job.file.audio_duration, seconds)
}

/** Old transcripts are found by their words once the index has caught up. */
async function checkFound(server: TestServer, { done }: ExpectedStore): Promise<void> {
  const word = done[0]!.transcript.split(' ')[3]
  for (;;) {
    const { body } = await call<{ items: { job: { id: string } }[] }>(
      server,
      `/v2/search?q=${word}`,
    )
    const found = new Set(body.items.map(({ job }) => job.id))
    if (done.every(({ id }) => found.has(id))) return
  }
}
