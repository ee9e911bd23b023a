import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { createLog } from '../../src/log.ts'
import { metadataTokens } from '../../src/storage/jobs/metadata-tokens.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { bytesOf } from './objects-conformance.ts'
import { addDue, addWebhook } from './test-deliveries.ts'
import { makeFolder } from './test-storage.ts'

const { signal } = new AbortController()

/** How much a filled data folder holds. */
export type Filling = { jobs: number; objects: number }

/** Fills a data folder with rows of every table, and objects of up to 300 KB; returns its path. */
export async function fillStore(t: TestContext, { jobs, objects }: Filling): Promise<string> {
  const folder = await makeFolder(t)
  const { db, close } = await openStorage({ folder, log: createLog('silent') })
  const written = { maxBytes: 1_000_000, signal }
  for (let n = 0; n < objects; n++) {
    const id = randomUUID()
    const content = `${n} `.repeat(n % 10 === 0 ? 100_000 : 100)
    const { size } = await db.objects.write(id, bytesOf(content), written)
    await sql`insert into files values
      (${id}, 'acme', 'ünï.wav', null, 'wav', ${size}, ${n + 0.25}, 1, ${n})`.execute(db.sql)
  }
  for (let n = 0; n < jobs; n++) await addEnded(db.sql, n)
  const endpoint = await addWebhook(db)
  await addDue(db, { endpoint, nextAt: 5 })
  const id = randomUUID()
  await sql`insert into delivery_attempts values
    (${id}, 1, 5, 20, 200, null, '{}', null, ${'zero \0 byte'})`.execute(db.sql)
  await sql`insert into keys (hash, account, prefix, created_at) values
    ('hash', 'acme', 'prefix', 1)`.execute(db.sql)
  await sql`insert into signing_secrets values
    ('secret', 'acme', null, 'whsec_x', 1, null)`.execute(db.sql)
  await sql`insert into idempotency_keys values ('acme', 'key', 'print', ${id}, 1)`.execute(db.sql)
  await sql`insert into live_sessions values (${id}, 'token', 1, null, null)`.execute(db.sql)
  await close()
  return folder
}

type Sql = Awaited<ReturnType<typeof openStorage>>['db']['sql']

/** The index of metadata is that of a job with the metadata `{"n":"…"}`. */
async function addEnded(database: Sql, n: number): Promise<void> {
  const id = randomUUID()
  const metadata = { n: String(n) }
  const result = JSON.stringify({ text: `result ${n} `.repeat(100) })
  await sql`insert into jobs (id, account, kind, status, created_at, completed_at,
      custom_metadata, request_params, result, run_after, file_duration)
    values (${id}, 'acme', 'pre-recorded', 'done', ${n}, ${n + 1}, ${JSON.stringify(metadata)},
      '{}', ${result}, 0, ${n / 3})`.execute(database)
  for (const token of metadataTokens('acme', metadata)) {
    await sql`insert into job_metadata (token, created_at, id, kind)
      values (${token}, ${n}, ${id}, 'pre-recorded')`.execute(database)
  }
}

/** Returns a hash of the database file and of all objects of a data folder. */
export async function hashFolder(folder: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(join(folder, 'steno.sqlite')))
  const names = await readdir(join(folder, 'objects'), { recursive: true, withFileTypes: true })
  for (const entry of names.filter((one) => one.isFile()).sort(byName)) {
    hash.update(entry.name).update(await readFile(join(entry.parentPath, entry.name)))
  }
  return hash.digest('hex')
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : 1
}
