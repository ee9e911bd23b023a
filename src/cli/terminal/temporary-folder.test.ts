import assert from 'node:assert/strict'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { AppError } from '../../errors.ts'
import { explainTemporaryFiles, makeTemporaryFolder } from './temporary-folder.ts'

test('without a folder for temporary files the error names TMPDIR', async (t) => {
  const before = process.env.TMPDIR
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  process.env.TMPDIR = join(await makeFolder(t), 'none')
  await assert.rejects(makeTemporaryFolder(), /^Error: Cannot create temporary files: .*TMPDIR/)
})

test('a full disk of temporary files names TMPDIR; other errors stay', () => {
  const full = explainTemporaryFiles(new AppError('storage_full', 'no space is left'))
  assert.match(String(full), /^Error: Cannot write to the disk: no space is left; .* set TMPDIR/)
  const other = new AppError('media_undecodable')
  assert.equal(explainTemporaryFiles(other), other)
})
