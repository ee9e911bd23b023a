import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createToneWav } from '../../support/audio/recordings.ts'
import { audioForm, call, type Uploaded } from '../../support/net/http-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const KILLS = rounds(5)
const JOBS = 5 + rounds(1)
/** A killed server has listened at most this long: enough for a job or two to end. */
const MAX_LIFE_MS = 900
/** Every so many kills one comes while the server is still starting. */
const EARLY_KILLS = 5
const MAX_START_MS = 600

type Job = {
  id: string
  status: string
  completed_at: string | null
  custom_metadata: { n: number }
  file: { id: string }
  result: { metadata: Record<string, number>; transcription: unknown } | null
}

/** Uploads the n-th recording: each has another length, hence another transcript. */
async function upload(server: ChildServer, n: number): Promise<string> {
  const form = audioForm(createToneWav(8 + n * 5, 1 + (n % 2)))
  const { body } = await call<Uploaded>(server, '/v2/upload', { method: 'POST', body: form })
  return body.audio_url
}

async function create(
  server: ChildServer,
  { audioUrl, n }: { audioUrl: string; n: number },
): Promise<string> {
  const json = { audio_url: audioUrl, custom_metadata: { n } }
  const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(status, 201)
  return body.id
}

async function list(server: ChildServer): Promise<Job[]> {
  const { body } = await call<{ items: Job[] }>(server, '/v2/pre-recorded?limit=100')
  return body.items
}

async function untilAllEnded(server: ChildServer): Promise<Job[]> {
  for (;;) {
    const jobs = await list(server)
    if (jobs.every(({ completed_at }) => completed_at !== null)) return jobs
    await delay(50)
  }
}

/** The result of a job without the time it took. */
function timeless({ result }: Job) {
  const { transcription_time: _, ...metadata } = result!.metadata
  return { ...result, metadata }
}

test('after each kill every accepted job ends once with its transcript', async (t) => {
  const expected = await transcribeUndisturbed(t)
  const folder = await makeFolder(t)
  const random = createRandom(SEED + 6)
  /** Number of the recording of each accepted job. */
  const accepted = new Map<string, number>()
  /** How a job ended, from when that was first seen. */
  const ends = new Map<string, string>()
  let next = 0

  for (let kills = 0; kills < KILLS; kills++) {
    const early = kills % EARLY_KILLS === 0
    const server = await startChild(t, folder, {
      startMs: early ? random() * MAX_START_MS : undefined,
    })
    if (!server) continue
    setTimeout(() => server.process.kill('SIGKILL'), random() * MAX_LIFE_MS)
    const exited = once(server.process, 'exit')
    try {
      for (const job of await list(server)) noteEnd(job)
      while (next < JOBS) {
        const audioUrl = await upload(server, next)
        // Counted before it is sent: a job whose answer was lost must not be asked for again.
        const n = next++
        accepted.set(await create(server, { audioUrl, n }), n)
        await delay(random() * 300)
      }
    } catch {
      // The server was killed under a request.
    }
    await exited
  }

  function noteEnd({ id, status, completed_at }: Job): void {
    if (!completed_at) return
    const end = `${status} ${completed_at}`
    assert.equal(ends.get(id) ?? end, end, 'a job that has ended never changes')
    ends.set(id, end)
  }

  const last = (await startChild(t, folder))!
  // On a slow machine the killed ones had little time to accept any.
  while (accepted.size < JOBS / 2 && next < JOBS) {
    const n = next++
    accepted.set(await create(last, { audioUrl: await upload(last, n), n }), n)
  }
  const jobs = await untilAllEnded(last)
  for (const job of jobs) {
    noteEnd(job)
    assert.equal(job.status, 'done')
    assert.deepEqual(timeless(job), expected[job.custom_metadata.n])
  }
  const found = new Map(jobs.map(({ id, custom_metadata }) => [id, custom_metadata.n]))
  for (const [id, n] of accepted) assert.equal(found.get(id), n, 'an accepted job is there')
  assert.equal(new Set(found.values()).size, jobs.length, 'no job is there twice')
  assert.ok(accepted.size >= JOBS / 2, `${accepted.size} jobs were accepted`)
  await kill(last)

  // A last start: what killed processes left behind is gone, and nothing else is.
  const clean = (await startChild(t, folder))!
  await kill(clean)
  assert.deepEqual(await readdir(join(folder, 'work')), [])
  const objects = await readdir(join(folder, 'objects'), { recursive: true })
  const kept = new Set(objects.flatMap((path) => path.match(/[0-9a-f-]{36}$/)?.[0] ?? []))
  for (const { file } of jobs) assert.ok(kept.has(file.id), 'the recording of each job is kept')
})

/** What each recording comes to when nothing is killed. */
async function transcribeUndisturbed(t: TestContext): Promise<unknown[]> {
  const server = (await startChild(t, await makeFolder(t)))!
  for (let n = 0; n < JOBS; n++) await create(server, { audioUrl: await upload(server, n), n })
  const jobs = await untilAllEnded(server)
  await kill(server)
  const results = []
  for (const job of jobs) results[job.custom_metadata.n] = timeless(job)
  assert.equal(results.length, JOBS)
  return results
}
