import assert from 'node:assert/strict'
import test from 'node:test'
import { explainMissingModels } from './require-models.ts'

test('a failed installation of models is reported with a remedy', () => {
  const written = (error: Error) => (explainMissingModels(error, '/models') as Error).message
  const refused = Object.assign(new Error('mkdtemp failed'), { code: 'EACCES' })
  assert.match(written(refused), /^Cannot write to \/models: permission denied; .*STENO_MODELS_DIR/)
  const full = Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' })
  assert.match(written(full), /^Cannot write to \/models: the disk is full; free some space/)
  const offline = new Error('Cannot fetch parts with npm: connect to a registry')
  assert.match(
    written(offline),
    /with npm: connect to a registry; without a network, copy \/models/,
  )
  const other = new Error('the disk is full')
  assert.equal(explainMissingModels(other, '/models'), other)
})
