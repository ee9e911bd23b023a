import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../../../errors.ts'
import { isConflict, isOutcomeUnknown, postgresError } from './postgres-error.ts'

function failed(code: string | undefined, message = 'it failed'): Error {
  return Object.assign(new Error(message), { ...(code !== undefined && { code }) })
}

test('a commit outcome is unknown only after a broken connection', () => {
  const unknown = [
    ...[failed('ECONNRESET'), failed('08006'), failed('57P01'), failed('EPIPE')],
    failed(undefined, 'Connection terminated unexpectedly'),
    failed(undefined, 'Query read timeout'),
  ]
  const known = [
    ...[failed('23505'), failed('40001'), failed('57014'), failed('57P03'), failed('ECONNREFUSED')],
    failed(undefined, 'timeout exceeded when trying to connect'),
    new AggregateError([failed('ECONNREFUSED')]),
    failed(undefined),
    new AppError('upload_invalid'),
  ]
  for (const error of unknown) {
    assert.ok(isOutcomeUnknown(error) && isOutcomeUnknown(postgresError(error)), String(error))
  }
  for (const error of known) assert.ok(!isOutcomeUnknown(error), String(error))
})

test('a transaction is repeated after a conflict, not after an error of the API', () => {
  assert.ok(isConflict(failed('40001')) && isConflict(postgresError(failed('40P01'))))
  assert.ok(!isConflict(failed('23505')) && !isConflict(new AppError('upload_invalid')))
})
