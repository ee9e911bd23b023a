import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../../errors.ts'
import { AddressRefusedError } from '../../net/check-url.ts'
import { sourceError } from './source-error.ts'

test('errors of the HTTP client are mapped to documented messages', () => {
  const reports = [
    ['ENOTFOUND', 'Cannot reach the audio source: its host name does not resolve'],
    ['UND_ERR_HEADERS_TIMEOUT', 'Cannot fetch the audio in time: it did not answer'],
    [undefined, 'Cannot reach the audio source: the connection failed'],
  ]
  for (const [code, reported] of reports) {
    const report = Object.assign(new Error('connect 10.0.0.1:80'), { code })
    assert.equal(sourceError(report).message, reported)
  }
  const { message } = sourceError(new AddressRefusedError())
  assert.equal(message, 'Cannot fetch from this address: it is not a public address')
})

test('failures before a connection is established are transient', () => {
  const isTransient = (code: string) =>
    sourceError(Object.assign(new Error(), { code })).isTransient
  for (const code of ['EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'ENETUNREACH', 'EMFILE']) {
    assert.equal(isTransient(code), true, code)
  }
  for (const code of ['ENOTFOUND', 'ECONNREFUSED', 'UND_ERR_SOCKET', 'UND_ERR_BODY_TIMEOUT']) {
    assert.equal(isTransient(code), false, code)
  }
})

test('an AppError is passed on, also as a cause', () => {
  const refused = new AppError('source_refused', 'it is not a public address')
  assert.equal(sourceError(refused), refused)
  assert.equal(sourceError(new TypeError('failed', { cause: refused })), refused)
})
