import assert from 'node:assert/strict'
import { type ErrorCode, httpStatusOf } from '../../../src/errors.ts'
import { type ErrorBody, sendRaw } from '../net/http-client.ts'
import type { TestServer } from '../server/start-server.ts'

/** A raw response. */
export type RawResponse = { status: number; headers: Headers; content: string }

/** Returns the headers of a request with the server's key on a connection of its own. */
export function ownHeaders({ key }: Pick<TestServer, 'key'>): string {
  return `host: a\r\nx-service-key: ${key}\r\nconnection: close\r\n`
}

/**
 * Writes a request that no HTTP client would write, one byte per character, and reads the first
 * response. Every response that is no success must have the standard error body.
 */
export async function requestRaw(
  server: Pick<TestServer, 'url'>,
  request: string,
): Promise<RawResponse> {
  const response = await sendRaw(server, request)
  const [head = '', content = ''] = response.split('\r\n\r\n', 2)
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]))
  if (!(status < 300)) assertErrorBody({ status, headers, content })
  return { status, headers, content }
}

function assertErrorBody({ status, headers, content }: RawResponse): void {
  const { timestamp, path, request_id, message, ...rest } = JSON.parse(content) as ErrorBody
  const { validation_errors = [], ...others } = rest
  assert.deepEqual(others, { statusCode: status })
  assert.equal(httpStatusOf(headers.get('x-error-code') as ErrorCode), status)
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(headers.get('x-request-id'), request_id)
  assert.match(timestamp, /^\d{4}-\d\d-\d\dT/)
  assert.equal(typeof path, 'string')
  assert.ok(message.length > 0)
  for (const line of validation_errors) assert.match(line, /^[\w.]+ (must |is required$)/)
}
