import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readStoredModels, type StoredRecord, storeFolder } from './installed-models.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-store-'))
after(() => rmSync(folder, { recursive: true }))

const record: StoredRecord = {
  id: 'whisper-base',
  kind: 'recognition',
  engine: 'whisper',
  languages: ['en', 'de'],
  license: 'MIT',
  revision: '1',
  memoryBytes: 5,
  files: {},
}

function place(name: string, content: string | undefined): void {
  const modelFolder = join(storeFolder(folder), name)
  mkdirSync(modelFolder, { recursive: true })
  if (content !== undefined) writeFileSync(join(modelFolder, 'model.json'), content)
}

test('only models with a supported record are listed', () => {
  assert.deepEqual(readStoredModels(folder), [])
  place('whisper-small', JSON.stringify({ ...record, id: 'whisper-small' }))
  const { license, ...early } = record
  place('whisper-base', JSON.stringify({ ...early, licence: license }))
  place('unfinished', undefined)
  place('damaged', '{')
  place('no-object', 'null')
  place('renamed', JSON.stringify(record))
  place('of-the-future', JSON.stringify({ ...record, id: 'of-the-future', engine: 'unknown' }))
  for (const [name, files] of Object.entries({
    outside: { '../a.bin': { bytes: 1, sha256: '0' } },
    incomplete: { 'a.bin': null },
  })) {
    place(name, JSON.stringify({ ...record, id: name, files }))
  }
  place('.installing-1', JSON.stringify({ ...record, id: '.installing-1' }))
  const { files: _files, ...model } = early
  const store = storeFolder(folder)
  assert.deepEqual(readStoredModels(folder), [
    { ...model, folder: join(store, 'whisper-base') },
    { ...model, id: 'whisper-small', folder: join(store, 'whisper-small') },
  ])
})
