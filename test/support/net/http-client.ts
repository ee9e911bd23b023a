import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { checkExchange } from '../api/conformance.ts'
import type { TestServer } from '../server/start-server.ts'

type Json = Record<string, unknown>

/** A response whose body is parsed when it is JSON. */
export type Response<T> = { status: number; headers: Headers; body: T }

/**
 * Sends a request with the server's key; `json` becomes the body. The response must conform to the
 * server's description.
 */
export async function call<T = Json>(
  { url, key }: Pick<TestServer, 'url' | 'key'>,
  path: string,
  { json, ...init }: RequestInit & { json?: unknown; duplex?: 'half' } = {},
): Promise<Response<T>> {
  const headers = new Headers(init.headers)
  if (!headers.has('x-service-key')) headers.set('x-service-key', key)
  if (json !== undefined) headers.set('content-type', 'application/json')
  const body = json === undefined ? init.body : JSON.stringify(json)
  const method = init.method ?? (body === undefined ? 'GET' : 'POST')
  const target = path.startsWith('http') ? path : url + path
  const response = await fetch(target, { ...init, method, headers, body: body ?? null })
  const content = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const parsed = isJson && content !== '' ? JSON.parse(content) : content
  const { status } = response
  if (target.startsWith(url)) {
    const exchange = { method, path: target.slice(url.length), status }
    await checkExchange(url, { ...exchange, headers: response.headers, body: parsed })
  }
  return { status: response.status, headers: response.headers, body: parsed as T }
}

/** The body of an error. */
export type ErrorBody = {
  timestamp: string
  path: string
  request_id: string
  statusCode: number
  message: string
  validation_errors?: string[]
}

/** Writes bytes to the server unchanged and resolves to everything it answers until it closes. */
export async function sendRaw({ url }: Pick<TestServer, 'url'>, request: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(request, 'latin1')
  return text(socket)
}

/** Builds a form with one file in the part `audio`. */
export function audioForm(bytes: Uint8Array<ArrayBuffer>, filename = 'talk.wav'): FormData {
  const form = new FormData()
  form.set('audio', new Blob([bytes]), filename)
  return form
}

export type Uploaded = {
  audio_url: string
  audio_metadata: {
    id: string
    filename: string
    extension: string
    size: number
    audio_duration: number
    number_of_channels: number
  }
}

/** Uploads a recording and resolves to its address. */
export async function upload(
  server: Pick<TestServer, 'url' | 'key'>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { status, body } = await call<Uploaded>(server, '/v2/upload', { body: audioForm(bytes) })
  assert.equal(status, 200, JSON.stringify(body))
  return body.audio_url
}

/** Uploads what may be no recording, and resolves to the response. */
export function tryUpload(server: Pick<TestServer, 'url' | 'key'>, content: Uint8Array) {
  const body = audioForm(new Uint8Array(content), 'recording')
  return call<ErrorBody & { audio_url: string }>(server, '/v2/upload', { body })
}
