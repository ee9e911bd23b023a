// `steno store migrate` is killed at random moments, and ends all the same.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { runSteno, startSteno } from '../../../support/cli/run-steno.ts'
import { createRandom } from '../../../support/random/random.ts'
import { rounds, SEED } from '../../../support/random/rounds.ts'
import { startChild } from '../../../support/server/child-server.ts'
import { createDatabase, noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { noS3, s3Settings, s3Url } from '../../../support/storage/objects/test-s3.ts'
import { fillStore, hashFolder } from '../../../support/storage/upgrades/filled-store.ts'

const JOBS = 4000
const OBJECTS = 300
/** Kills until it may end. */
const KILLS = Math.min(rounds(4), 24)

test('a migration of the store killed repeatedly moves everything once', {
  skip: noPostgres || noS3,
}, async (t) => {
  const random = createRandom(SEED)
  const folder = await fillStore(t, { jobs: JOBS, objects: OBJECTS })
  const before = await hashFolder(folder)
  const env = {
    STENO_DATA_DIR: folder,
    STENO_DATABASE_URL: (await createDatabase()).url,
    STENO_OBJECT_STORE: s3Url(await s3Settings()),
  }
  for (let kills = 0; kills < KILLS; kills++) {
    const child = startSteno(['store', 'migrate'], { env })
    const exited = once(child, 'exit')
    // It takes about a second to begin.
    await Promise.race([exited, delay(700 + random() * 2000)])
    child.kill('SIGKILL')
    const [code] = await exited
    // Whatever it had ended by itself, it had not failed.
    if (code !== null) assert.equal(code, 0)
    if (code === 0) break
  }
  const { code, stderr } = await runSteno(['store', 'migrate'], { env })
  assert.match(stderr, /Everything was copied and compared|it is in use|it has objects/)
  if (code === 0) assert.match(stderr, /comparing rows \d+ % of \d+/)
  assert.equal(await hashFolder(folder), before, 'the folder stays as it was')
  for (const name of ['steno.sqlite', 'objects']) {
    await rename(join(folder, name), join(folder, `${name}.moved`))
  }
  const server = (await startChild(t, folder, { env: { ...env, STENO_API_KEYS: 'acme:key' } }))!
  const filter = encodeURIComponent(JSON.stringify({ n: '1234' }))
  const list = `${server.url}/v2/pre-recorded?limit=1&custom_metadata=${filter}`
  const response = await fetch(list, { headers: { 'x-service-key': 'key' } })
  const { items } = (await response.json()) as { items: { custom_metadata: { n: string } }[] }
  assert.deepEqual(
    items.map(({ custom_metadata }) => custom_metadata.n),
    ['1234'],
  )
})
