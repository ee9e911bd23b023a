import assert from 'node:assert/strict'
import test from 'node:test'
import { AddressRefusedError } from './check-url.ts'
import { describeConnectionError } from './connection-error.ts'

const reports: [code: string | undefined, kind: string, detail: string][] = [
  ['ENOTFOUND', 'failed', 'its host name does not resolve'],
  ['EAI_AGAIN', 'failed', 'its name could not be looked up'],
  ['ECONNREFUSED', 'failed', 'nothing listens at the address'],
  ['ENETUNREACH', 'failed', 'no route leads to the address'],
  ['UND_ERR_SOCKET', 'failed', 'the connection broke off'],
  ['ECONNRESET', 'failed', 'the connection broke off'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'failed', 'the connection broke off'],
  ['UND_ERR_HEADERS_OVERFLOW', 'failed', 'the headers of its answer are too large'],
  ['HPE_INVALID_EOF_STATE', 'failed', 'the connection broke off'],
  ['HPE_HEADER_OVERFLOW', 'failed', 'the headers of its answer are too large'],
  ['TOO_MANY_INFORMATIONAL_RESPONSES', 'failed', 'it sent too many informational responses'],
  ['HPE_INVALID_CONSTANT', 'failed', 'its answer is not HTTP'],
  ['CERT_HAS_EXPIRED', 'failed', 'its certificate is not valid'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'failed', 'its certificate is not valid'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'failed', 'the TLS handshake failed'],
  ['UND_ERR_CONNECT_TIMEOUT', 'late', 'it accepted no connection in time'],
  ['ETIMEDOUT', 'late', 'it accepted no connection in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'late', 'it did not answer'],
  ['UND_ERR_BODY_TIMEOUT', 'late', 'it sent nothing more'],
  ['UND_ERR_OF_TOMORROW', 'failed', 'the connection failed'],
  [undefined, 'failed', 'the connection failed'],
]

test('HTTP client errors are described without codes and addresses', () => {
  for (const [code, kind, detail] of reports) {
    const report = Object.assign(new Error('connect 10.0.0.1:80'), { code })
    assert.deepEqual(describeConnectionError(report), { kind, detail }, code)
  }
})

test('an AddressRefusedError is found as a cause', () => {
  const refused = new AddressRefusedError()
  const reported = { kind: 'refused', detail: 'it is not a public address' }
  assert.deepEqual(describeConnectionError(refused), reported)
  assert.deepEqual(describeConnectionError(new TypeError('failed', { cause: refused })), reported)
})
