import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { openBackupFolder } from '../../../src/storage/backup/backup-folder.ts'
import { checkBackup } from '../../../src/storage/backup/check-backup.ts'
import { openObjectIndex } from '../../../src/storage/backup/object-index.ts'
import { restoreBackup } from '../../../src/storage/backup/restore-backup.ts'
import { takeBackup } from '../../../src/storage/backup/take-backup.ts'
import { fillStore } from '../../../test/support/storage/upgrades/filled-store.ts'
import { failsClearly } from '../../fails-clearly.ts'
import { fuzzBytes } from '../../guided.ts'

const { signal } = new AbortController()
const root = mkdtempSync(join(tmpdir(), 'steno-fuzz-'))
process.on('exit', () => rmSync(root, { recursive: true }))
const KEY = Buffer.alloc(32, 7)

const removals: (() => void)[] = []
const context = { after: (remove: () => void) => removals.push(remove) } as unknown as TestContext
const folder = await fillStore(context, { jobs: 2, objects: 2 })
for (const [name, key] of [
  ['plain', undefined],
  ['sealed', KEY],
] as const) {
  const target = join(root, name)
  await takeBackup({ folder, target, key, keep: 7, atOnce: 1, signal })
}
for (const remove of removals) await remove()

/** The files of a backup, by what they are. */
function filesOf(target: string) {
  const all = readdirSync(target, { recursive: true, encoding: 'utf8' })
  const path = (end: RegExp) => join(target, all.find((name) => end.test(name))!)
  return {
    head: path(/backup\.json$/),
    index: path(/copied\.jsonl$/),
    manifest: path(/\/manifest$/),
    database: path(/steno\.sqlite$/),
    object: path(/objects\/.*[0-9a-f-]{36}$/),
  }
}

const plain = filesOf(join(root, 'plain'))
const sealed = filesOf(join(root, 'sealed'))

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const body = (manifest: Buffer) => manifest.subarray(0, manifest.lastIndexOf(10, -2) + 1)

/** Whoever changes a plain backup can also make its manifest fit. */
function signed(lines: Buffer): Buffer {
  return Buffer.concat([lines, Buffer.from(`${JSON.stringify({ end: sha256(lines) })}\n`)])
}

function fitting(manifest: Buffer, database: Buffer): Buffer {
  const [head = '', ...objects] = body(manifest).toString().split('\n')
  const { files, ...rest } = JSON.parse(head) as { files: { name: string }[] }
  const changed = files.map((file) => {
    const expected = { size: database.length, digest: sha256(database) }
    return file.name === 'steno.sqlite' ? { ...file, ...expected } : file
  })
  const lines = [JSON.stringify({ ...rest, files: changed }), ...objects].join('\n')
  return signed(Buffer.from(lines))
}

/** Checks and restores a backup, which must succeed or be refused, within its folders. */
async function use(target: string, key: Buffer | undefined): Promise<void> {
  const before = readdirSync(root).sort()
  const restored = join(root, 'restored')
  await failsClearly(() => checkBackup({ target, key, signal }))
  const options = { source: target, key, folder: restored, snapshot: undefined, account: 'acme' }
  await failsClearly(() => restoreBackup({ ...options, signal }))
  rmSync(restored, { recursive: true, force: true })
  assert.deepEqual(readdirSync(root).sort(), before)
}

/** Uses a backup of which some files are replaced, which are then put back. */
async function damaged(changes: [path: string, bytes: Buffer][], run: () => Promise<void>) {
  const whole = changes.map(([path]) => [path, readFileSync(path)] as const)
  for (const [path, bytes] of changes) writeFileSync(path, bytes)
  try {
    await run()
  } finally {
    for (const [path, bytes] of whole) writeFileSync(path, bytes)
  }
}

const original = readFileSync(plain.manifest)
const [plainFolder, sealedFolder] = [join(root, 'plain'), join(root, 'sealed')]
cpSync(plain.object, join(root, 'kept'))

const checks = {
  head: (bytes: Buffer) => damaged([[plain.head, bytes]], () => use(plainFolder, undefined)),
  manifest: (bytes: Buffer) =>
    damaged([[plain.manifest, signed(bytes)]], () => use(plainFolder, undefined)),
  database: (bytes: Buffer) => {
    const changes: [string, Buffer][] = [
      [plain.database, bytes],
      [plain.manifest, fitting(original, bytes)],
    ]
    return damaged(changes, () => use(plainFolder, undefined))
  },
  index: (bytes: Buffer) =>
    damaged([[plain.index, bytes]], async () => {
      const backup = await openBackupFolder(plainFolder, { key: undefined })
      const { find } = await openObjectIndex(backup)
      const content = await find(plain.object.split('/').at(-1)!)
      if (content) assert.match(`${content.size} ${content.digest}`, /^\d+ [0-9a-f]{64}$/)
    }),
  sealedHead: (bytes: Buffer) => damaged([[sealed.head, bytes]], () => use(sealedFolder, KEY)),
  sealedManifest: (bytes: Buffer) =>
    damaged([[sealed.manifest, bytes]], () => use(sealedFolder, KEY)),
  sealedObject: (bytes: Buffer) => damaged([[sealed.object, bytes]], () => use(sealedFolder, KEY)),
}

await fuzzBytes(
  'backups',
  {
    head: [readFileSync(plain.head)],
    manifest: [body(original)],
    database: [readFileSync(plain.database)],
    index: [readFileSync(plain.index)],
    sealedHead: [readFileSync(sealed.head)],
    sealedManifest: [readFileSync(sealed.manifest)],
    sealedObject: [readFileSync(sealed.object)],
  },
  (bytes, kind) => checks[kind](bytes),
)
