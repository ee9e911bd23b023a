import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { explainFailure, explainReading } from './file-errors.ts'

const denied = Object.assign(new Error("EACCES: permission denied, open 'a\u001b'"), {
  code: 'EACCES',
  syscall: 'open',
  path: 'a\u001b',
})

test('a file that may not be read is explained in plain words', async () => {
  assert.equal(explainReading(denied), 'permission denied')
  const missing = await stat('/no/such/file').catch((error: unknown) => error)
  assert.equal(explainReading(missing), 'the file does not exist')
  assert.equal(explainReading(new Error('odd\u001b')), 'odd?')
})

test('a command that ends because of permissions names the file', () => {
  assert.equal(explainFailure(denied), 'Cannot open a?: permission denied')
  const program = Object.assign(new Error('spawn b EACCES'), { ...denied, syscall: 'spawn b' })
  assert.equal(explainFailure(program), 'spawn b EACCES')
  assert.deepEqual([explainFailure(new Error('other')), explainFailure('text')], ['other', 'text'])
})
