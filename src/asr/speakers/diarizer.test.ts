import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createDiarizer } from './diarizer.ts'
import { writeEmbeddings } from './embedding/embedding-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-voices-'))
after(() => rmSync(folder, { recursive: true }))

test('embeddings of different models are rejected', () => {
  const files = ['one', 'other'].map((model) => {
    const file = join(folder, model)
    writeEmbeddings(file, { model, windows: [] })
    return file
  })
  const task = { transcript: { utterances: [] }, counts: {} }
  const { findSpeakers } = createDiarizer()
  assert.throws(() => findSpeakers({ ...task, embeddings: [{ channel: 0, files }] }), {
    code: 'storage_unreadable',
    message: /come from different models/,
  })
  assert.deepEqual(findSpeakers({ ...task, embeddings: [{ channel: 0, files: [files[0]!] }] }), [])
})
