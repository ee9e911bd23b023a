import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError, type ErrorCode } from '../../../errors.ts'
import { toSourceFieldError } from './source-field-error.ts'

const ofTheSource: ErrorCode[] = [
  'source_forbidden',
  'source_not_found',
  'source_refused',
  'source_timeout',
  'source_unreachable',
]

test('an error of the audio source is reported as a validation error of its field', () => {
  for (const code of ofTheSource) {
    const error = new AppError(code, 'so it is')
    const reported = toSourceFieldError(error) as AppError
    assert.deepEqual([reported.code, reported.cause], ['request_invalid', error])
    const line = `audio_url must lead to audio that can be fetched: ${error.message}`
    assert.deepEqual(reported.validationErrors, [line])
    assert.ok(reported.message.endsWith(error.message))
  }
})

test('toSourceFieldError returns other errors unchanged', () => {
  for (const error of [
    new AppError('media_too_large'),
    new AppError('storage_full'),
    new Error(),
  ]) {
    assert.equal(toSourceFieldError(error), error)
  }
})
