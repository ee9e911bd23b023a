import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../errors.ts'
import { sourceError } from './source-error.ts'

const reports: [code: string | undefined, told: string][] = [
  ['ENOTFOUND', 'Cannot reach the audio source: its name leads to no address'],
  ['EAI_AGAIN', 'Cannot reach the audio source: its name leads to no address'],
  ['ECONNREFUSED', 'Cannot reach the audio source: nothing listens at the address'],
  ['ENETUNREACH', 'Cannot reach the audio source: there is no way to the address'],
  ['UND_ERR_SOCKET', 'Cannot reach the audio source: the connection broke off'],
  ['ECONNRESET', 'Cannot reach the audio source: the connection broke off'],
  [
    'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
    'Cannot reach the audio source: the connection broke off',
  ],
  [
    'UND_ERR_HEADERS_OVERFLOW',
    'Cannot reach the audio source: the headers of its answer are too large',
  ],
  ['HPE_INVALID_CONSTANT', 'Cannot reach the audio source: its answer is not HTTP'],
  ['CERT_HAS_EXPIRED', 'Cannot reach the audio source: its certificate is not valid'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'Cannot reach the audio source: its certificate is not valid',
  ],
  [
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'Cannot reach the audio source: it does not speak TLS as it should',
  ],
  ['UND_ERR_CONNECT_TIMEOUT', 'Cannot fetch the audio in time: it took no connection'],
  ['ETIMEDOUT', 'Cannot fetch the audio in time: it took no connection'],
  ['UND_ERR_HEADERS_TIMEOUT', 'Cannot fetch the audio in time: it did not answer'],
  ['UND_ERR_BODY_TIMEOUT', 'Cannot fetch the audio in time: it sent nothing more'],
  ['UND_ERR_OF_TOMORROW', 'Cannot reach the audio source: the connection failed'],
  [undefined, 'Cannot reach the audio source: the connection failed'],
]

test('what the client reports is told in words, without its codes and addresses', () => {
  for (const [code, told] of reports) {
    const report = Object.assign(new Error('connect 10.0.0.1:80'), { code })
    assert.equal(sourceError(report).message, told)
  }
})

test('our own refusal stays what it is, also inside a report', () => {
  const refused = new AppError('source_refused', 'it is not a public address')
  assert.equal(sourceError(refused), refused)
  assert.equal(sourceError(new TypeError('failed', { cause: refused })), refused)
})
