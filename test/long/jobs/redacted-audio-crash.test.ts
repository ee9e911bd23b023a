import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { noise, waveOf } from '../../support/audio/noise.ts'
import { audioForm, call, type Uploaded } from '../../support/net/http-client.ts'
import { createRandom } from '../../support/random/random.ts'
import { rounds, SEED } from '../../support/random/rounds.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { filesHolding } from '../../support/storage/folder-search.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

/** Every other one comes at a random moment, the others when a redacted recording is stored. */
const KILLS = rounds(2)
/** Enough for a job to end now and then. */
const MAX_LIFE_MS = 1500
/** Several blocks, so that writing takes a moment. */
const channels = [noise(30, 1), noise(30, 2)]
const recording = waveOf(channels)
/** In the middle of the name, which is heard in every five seconds. */
const MIDDLE = 2.7 * 16_000
const needles = [
  ...channels.map((samples) => Buffer.from(samples.slice(MIDDLE, MIDDLE + 64).buffer)),
  Buffer.from(recording.slice(44 + MIDDLE * 4, 44 + MIDDLE * 4 + 128)),
]

const env = { FAKE_TEXT: 'Hello there, my name is Lena and that is all.', FAKE_BATCH_MS: '1' }

async function submit(server: ChildServer): Promise<string> {
  const body = audioForm(recording)
  const { audio_url } = (await call<Uploaded>(server, '/v2/upload', { body })).body
  const pii_redaction_config = { entity_types: 'NAME', audio: true }
  const json = { audio_url, pii_redaction: true, pii_redaction_config }
  const created = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  assert.equal(created.status, 201)
  return created.body.id
}

async function untilEnded(server: ChildServer, id: string): Promise<string> {
  for (;;) {
    const { body } = await call<{ status: string }>(server, `/v2/pre-recorded/${id}`)
    if (body.status === 'done' || body.status === 'error') return body.status
    await delay(20)
  }
}

async function redactedAudio({ url, key }: ChildServer, id: string): Promise<Buffer> {
  const path = `${url}/v2/pre-recorded/${id}/file?redacted=true`
  const response = await fetch(path, { headers: { 'x-service-key': key } })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}

async function objectsIn(folder: string): Promise<string[]> {
  if (!existsSync(join(folder, 'objects'))) return []
  const names = await readdir(join(folder, 'objects'), { recursive: true })
  return names.flatMap((name) => name.match(/[0-9a-f-]{36}$/) ?? []).sort()
}

function openDatabase(folder: string): DatabaseSync {
  return new DatabaseSync(join(folder, 'steno.sqlite'), { timeout: 10_000 })
}

/**
 * Kills a server that has stored the redacted recording of a job, but cannot write that the job has
 * ended.
 */
async function killBeforeEnd(server: ChildServer, folder: string): Promise<string> {
  const database = openDatabase(folder)
  database.exec(`create trigger held before update of result on jobs
    begin select raise(fail, 'held'); end`)
  const before = new Set(await objectsIn(folder))
  const id = await submit(server)
  const { file_id } = database.prepare('select file_id from jobs where id = ?').get(id)!
  const isRedacted = (object: string) => object !== file_id && !before.has(object)
  while (!(await objectsIn(folder)).some(isRedacted)) await delay(5)
  await kill(server)
  database.exec('drop trigger held')
  database.close()
  return id
}

async function killAtRandom(server: ChildServer, random: () => number): Promise<string> {
  const id = await submit(server)
  await delay(random() * MAX_LIFE_MS)
  await kill(server)
  return id
}

test('after each kill a job keeps its original only until it ends', async (t) => {
  const random = createRandom(SEED + 10)
  const folder = await makeFolder(t)
  let expected: Buffer | undefined
  let server = (await startChild(t, folder, { env, silent: true }))!
  for (let n = 0; n < KILLS; n++) {
    const isHeld = n % 2 === 1
    const id = isHeld ? await killBeforeEnd(server, folder) : await killAtRandom(server, random)
    server = (await startChild(t, folder, { env, silent: true }))!
    assert.equal(await untilEnded(server, id), 'done')
    const sound = await redactedAudio(server, id)
    expected ??= sound
    assert.ok(sound.equals(expected), 'the same whatever happened meanwhile')
  }
  await kill(server)

  // A last start: what killed servers left behind is gone, and nothing else is.
  const last = (await startChild(t, folder, { env }))!
  const database = openDatabase(folder)
  const kept = database
    .prepare('select redacted_object as id from jobs order by redacted_object')
    .all()
  database.close()
  assert.equal(kept.length, KILLS)
  while ((await objectsIn(folder)).length > KILLS) await delay(5)
  assert.deepEqual(
    await objectsIn(folder),
    kept.map(({ id }) => id),
  )
  assert.deepEqual(await readdir(join(folder, 'work')), [])
  assert.deepEqual(await filesHolding(folder, needles), [])
  await kill(last)
})
