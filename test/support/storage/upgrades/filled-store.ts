import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { createLog } from '../../../../src/observability/log.ts'
import { type Db, inTransaction } from '../../../../src/storage/database/db.ts'
import { metadataTokens } from '../../../../src/storage/jobs/lists/metadata-tokens.ts'
import { openStorage, type StorageOptions } from '../../../../src/storage/storage.ts'
import { addDue, addWebhook } from '../../delivery/test-deliveries.ts'
import { bytesOf } from '../objects/objects-conformance.ts'
import { makeFolder, openFolder } from '../test-storage.ts'

const { signal } = new AbortController()

/** How much a filled data folder holds. */
export type Filling = { jobs: number; objects: number }

/** Fills a data folder with rows of every table, and objects of up to 300 KB; returns its path. */
export async function fillStore(t: TestContext, { jobs, objects }: Filling): Promise<string> {
  const folder = await makeFolder(t)
  const { db, close } = await openFolder(folder)
  const written = { maxBytes: 1_000_000, signal }
  const stored: { id: string; size: number }[] = []
  for (let n = 0; n < objects; n++) {
    const id = randomUUID()
    const content = `${n} `.repeat(n % 10 === 0 ? 100_000 : 100)
    stored.push({ id, ...(await db.objects.write(id, bytesOf(content), written)) })
  }
  // Many small transactions would take most of the time of a test.
  await inTransaction(db, async (tx) => {
    for (const [n, { id, size }] of stored.entries()) {
      await sql`insert into files values
        (${id}, 'acme', 'ünï.wav', null, 'wav', ${size}, ${n + 0.25}, 1, ${n})`.execute(tx.sql)
    }
    for (let n = 0; n < jobs; n++) await addEnded(tx.sql, n)
    await addOthers(tx)
  })
  await close()
  return folder
}

/** Adds rows to the tables besides files and jobs. */
async function addOthers(db: Db): Promise<void> {
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
}

/** The index of metadata is that of a job with the metadata `{"n":"…"}`. */
async function addEnded(database: Db['sql'], n: number): Promise<void> {
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

/**
 * Opens a store that `fillStore` filled and that was moved, checks what it holds, and closes it.
 */
export async function checkMoved(
  options: Omit<StorageOptions, 'log'>,
  { jobs, objects }: Filling,
): Promise<void> {
  const storage = await openStorage({ ...options, log: createLog('silent') })
  await storage.swept
  const { rows } = await sql<{ jobs: number; bytes: number }>`select
    (select count(*) from jobs) as jobs, (select bytes from account_bytes) as bytes
    `.execute(storage.db.sql)
  assert.equal(rows[0]!.jobs, jobs)
  assert.ok(rows[0]!.bytes > jobs * 800, 'what the account stores is counted')
  assert.equal((await Array.fromAsync(storage.objects.list())).flat().length, objects)
  await storage.close()
}
