import { signal } from '@preact/signals'
import type {
  ApiCreatedJob,
  ApiCreatedSession,
  ApiError,
  ApiJobProgress,
  ApiLiveJob,
  ApiPreRecordedJob,
  ApiSignIn,
  ApiUpload,
} from '../../../src/cli/client/api-types.ts'
import { texts } from '../texts.ts'

export type Job = ApiPreRecordedJob | ApiLiveJob
export type JobPage = { next: string | null; items: Job[] }

/** Who is signed in: `undefined` until the server has responded, `null` if nobody is. */
export const signedIn = signal<ApiSignIn | null | undefined>(undefined)

/** The error of a refused request. `code` is an error code of docs/errors.md. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export type RequestOptions = {
  method?: string
  json?: unknown
  signal?: AbortSignal
  keepalive?: boolean
}

/** Addresses are relative, because a proxy may serve the dashboard under any path. */
const base = new URL('.', document.baseURI)

/** Returns the absolute address of a path of the API. */
export function apiAddress(path: string): string {
  return new URL(path, base).href
}

function requestHeaders({ method = 'GET', json }: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {}
  if (json !== undefined) headers['content-type'] = 'application/json'
  const token = signedIn.value?.csrf_token
  if (method !== 'GET' && token) headers['x-csrf-token'] = token
  return headers
}

/** Sends a request and returns the parsed answer; throws `RequestError`. */
export async function request<T>(path: string, options: RequestOptions = {}): Promise<T> {
  const { method = options.json === undefined ? 'GET' : 'POST', json, ...rest } = options
  const init: RequestInit = { method, headers: requestHeaders({ method, json }), ...rest }
  if (json !== undefined) init.body = JSON.stringify(json)
  const response = await fetch(apiAddress(path), init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new RequestError(0, 'offline', texts.offline)
  })
  const text = await response.text()
  if (!response.ok) {
    throw toError(response.status, response.headers.get('x-error-code') ?? '', text)
  }
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function toError(status: number, code: string, text: string): RequestError {
  let message = texts.errors.unknown
  try {
    const body = JSON.parse(text) as ApiError
    // The message of a 400 only refers to the lines; other messages repeat them.
    const lines = status === 400 ? (body.validation_errors ?? []) : []
    message = lines.join('\n') || body.message
  } catch {
    // Not the body of this server, such as that of a proxy.
  }
  const ended = status === 401 && code !== 'key_unknown'
  if (ended) {
    signedIn.value = null
    message = texts.signIn.ended
  }
  return new RequestError(status, code, message)
}

/** Asks the server who is signed in, unless the browser sent no cookie of a sign-in. */
export async function loadSignIn(): Promise<void> {
  const signedInState = document.querySelector<HTMLMetaElement>('meta[name=signed-in]')?.content
  if (signedInState === 'no' && signedIn.value === undefined) {
    signedIn.value = null
    return
  }
  try {
    signedIn.value = await request<ApiSignIn>('v2/sign-in')
  } catch (error) {
    signedIn.value = null
    if ((error as RequestError).code === 'offline') throw error
  }
}

let lastAccount: string | undefined
signedIn.subscribe((signIn) => {
  if (signIn) lastAccount = signIn.account
})

export async function signIn(by: { key: string } | { link: string }): Promise<void> {
  const found = await request<ApiSignIn>('v2/sign-in', { json: by })
  if (lastAccount === undefined || lastAccount === found.account) signedIn.value = found
  else location.reload() // What the page still holds is of the other account.
}

const unfinished = new Set<() => Promise<unknown>>()

/**
 * Calls `finish`, which needs the sign-in or must not outlive it, before the user signs out;
 * returns a function that stops this.
 */
export function beforeSignOut(finish: () => Promise<unknown>): () => void {
  unfinished.add(finish)
  return () => unfinished.delete(finish)
}

export async function signOut({ everywhere }: { everywhere: boolean }): Promise<void> {
  await Promise.all([...unfinished].map((finish) => finish()))
  await request(`v2/sign-in?everywhere=${everywhere}`, { method: 'DELETE' })
  forgetUser()
}

/** Ends the sign-in of the page, and removes all that it holds: others may use this browser. */
export function forgetUser(): void {
  signedIn.value = null
  location.reload()
}

/** Returns whether the key may do something. */
export function hasScope(scope: 'read' | 'write' | 'live' | 'keys' | 'admin'): boolean {
  return signedIn.value?.scopes.includes(scope) ?? false
}

/** Returns whether the start of a file can be read. */
async function isReadable(file: File): Promise<boolean> {
  const reader = file.stream().getReader()
  const isRead = await reader.read().then(
    () => true,
    () => false,
  )
  if (isRead) await reader.cancel()
  return isRead
}

/** Uploads a file; `onProgress` gets the fraction that was sent. */
export async function uploadFile(
  file: File,
  { onProgress, signal }: { onProgress: (fraction: number) => void; signal: AbortSignal },
): Promise<ApiUpload> {
  // Firefox would start to send a file that has been deleted, and wait.
  if (!(await isReadable(file))) throw new Error(texts.recordings.notSent)
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<ApiUpload>()
  const sending = new XMLHttpRequest()
  sending.open('POST', apiAddress('v2/upload'))
  for (const [name, value] of Object.entries(requestHeaders({ method: 'POST' }))) {
    sending.setRequestHeader(name, value)
  }
  sending.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0)
  sending.onload = () => {
    const { status, responseText } = sending
    if (status < 300) resolve(JSON.parse(responseText) as ApiUpload)
    else reject(toError(status, sending.getResponseHeader('x-error-code') ?? '', responseText))
  }
  // The browser does not say whether it cannot read the file or the server does not answer.
  sending.onerror = () => {
    request('ready').then(() => reject(new Error(texts.recordings.notSent)), reject)
  }
  sending.onabort = () => reject(new DOMException('canceled', 'AbortError'))
  signal.addEventListener('abort', () => sending.abort())
  const form = new FormData()
  form.append('audio', file)
  sending.send(form)
  return promise
}

export const createJob = (json: object) => request<ApiCreatedJob>('v2/pre-recorded', { json })
export const createSession = (json: object, signal: AbortSignal) =>
  request<ApiCreatedSession>('v2/live', { json, signal })
export const readProgress = (id: string) =>
  request<ApiJobProgress>(`v2/pre-recorded/${id}/progress`)

export type { ApiJobProgress, ApiUtterance, ApiWord } from '../../../src/cli/client/api-types.ts'
