import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hashFile } from '../../../models/files/hash-file.ts'
import { xvectorModelPath } from './embedders/xvector-model.ts'
import { chooseSpeakerModel } from './speaker-model.ts'

test('the id of the built-in model depends on its file and its windows', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-voice-model-'))
  t.after(() => rm(folder, { recursive: true }))
  const { id, kind } = chooseSpeakerModel(folder)
  assert.equal(kind, 'built-in')
  assert.match(id, /^built-in-[0-9a-f]{16}$/)
  assert.equal(chooseSpeakerModel(folder).id, id)
  // The id covers more than the file.
  assert.notEqual(id, `built-in-${(await hashFile(xvectorModelPath)).slice(0, 16)}`)
})
