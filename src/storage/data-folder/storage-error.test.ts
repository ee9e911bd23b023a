import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../../errors.ts'
import { storageError } from './storage-error.ts'

/** Returns the error table's name for an error with these fields, or `as it came`. */
function nameOf(fields: { code?: string; errcode?: number }): string {
  const error = Object.assign(new Error('reported'), fields)
  const named = storageError(error)
  return named instanceof AppError ? named.code : named === error ? 'as it came' : 'something else'
}

test('file system errors map to documented codes', () => {
  assert.equal(nameOf({ code: 'ENOSPC' }), 'storage_full')
  assert.equal(nameOf({ code: 'EDQUOT' }), 'storage_full')
  assert.equal(nameOf({ code: 'EFBIG' }), 'storage_full')
  assert.equal(nameOf({ code: 'ENOENT' }), 'file_not_found')
  assert.equal(nameOf({ code: 'EIO' }), 'storage_unreadable')
  assert.equal(nameOf({ code: 'EACCES' }), 'storage_unreadable')
  assert.equal(nameOf({ code: 'EMFILE' }), 'as it came')
})

test('SQLite errors map by the family of their code', () => {
  assert.equal(nameOf({ code: 'ERR_SQLITE_ERROR', errcode: 13 }), 'storage_full')
  assert.equal(nameOf({ code: 'ERR_SQLITE_ERROR', errcode: 10 | (19 << 8) }), 'storage_full')
  assert.equal(nameOf({ code: 'ERR_SQLITE_ERROR', errcode: 10 | (4 << 8) }), 'storage_unreadable')
  assert.equal(nameOf({ code: 'ERR_SQLITE_ERROR', errcode: 5 }), 'as it came')
})

test('an AppError is passed on unchanged', () => {
  const named = new AppError('media_too_large')
  assert.equal(storageError(named), named)
  assert.equal(storageError('text'), 'text')
})
