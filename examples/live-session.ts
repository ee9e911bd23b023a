import { WebSocket } from 'ws'

/** The server and the key of a program, from its options. */
export type Server = { url: string; key: string }

/** A message of a live session. Programs read only the types that they know. */
export type LiveMessage = {
  type: string
  data?: {
    is_final?: boolean
    message?: string
    utterance?: { text: string; start: number; end: number; channel: number; language: string }
  } | null
}

/** A live session that takes audio. */
export type LiveSession = {
  id: string
  /** Sends audio; resolves when there is room for more. */
  send(audio: Uint8Array): Promise<void>
  /** Ends the audio: what was sent is recognized to its end. */
  stop(): void
  /** Resolves when everything was recognized; rejects when the session fails or is lost. */
  readonly ended: Promise<void>
}

/** The server refuses frames of twice this size. */
const MAX_FRAME_BYTES = 512 * 1024
/** With more unsent bytes than this, `send` waits. */
const MAX_UNSENT_BYTES = 1024 * 1024
/** A server that does not answer within this time counts as out of reach. */
const ANSWER_MS = 15_000

/**
 * Sends a request to the server; resolves to the parsed answer. Rejects with a sentence for people.
 */
export async function callServer<T>({ url, key }: Server, path: string, json?: object): Promise<T> {
  const headers = { 'x-service-key': key, ...(json && { 'content-type': 'application/json' }) }
  const body = json ? JSON.stringify(json) : null
  const method = json ? 'POST' : 'GET'
  const signal = AbortSignal.timeout(ANSWER_MS)
  const address = `${url.replace(/\/$/, '')}${path}`
  let response: Response
  let text: string
  try {
    response = await fetch(address, { method, headers, body, signal })
    text = await response.text()
  } catch (cause) {
    throw new Error(`Cannot reach the server at ${url}`, { cause })
  }
  const answer = parseJson(text) as T & {
    message?: string
    error?: { message?: string }
    validation_errors?: string[]
  }
  if (response.ok && answer) return answer
  const [first = answer?.error?.message ?? answer?.message] = answer?.validation_errors ?? []
  throw new Error(`The server answered ${response.status}: ${first ?? 'no reason'}`)
}

/** Creates a live session with these parameters, and connects to it. */
export async function openLiveSession(
  server: Server,
  params: object,
  onMessage: (message: LiveMessage) => void,
): Promise<LiveSession> {
  const { id, url } = await callServer<{ id: string; url: string }>(server, '/v2/live', params)
  const socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: ANSWER_MS })
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  ended.promise.catch(() => {}) // Whoever waits for it hears of it.
  let problem = ''
  socket.on('open', opened.resolve)
  socket.on('error', ({ message }) => {
    problem = `: ${message}`
  })
  socket.on('message', (data) => {
    const message = parseJson(String(data)) as LiveMessage | undefined
    if (message) onMessage(message)
  })
  socket.on('close', (code, reason) => {
    const error = new Error(`The live session was closed with ${code} ${reason}${problem}`)
    opened.reject(error)
    if (code === 1000) ended.resolve()
    else ended.reject(error)
  })
  await opened.promise
  return {
    id,
    ended: ended.promise,
    async send(audio) {
      for (let at = 0; at < audio.length; at += MAX_FRAME_BYTES) {
        if (socket.readyState !== socket.OPEN) return
        const sent = Promise.withResolvers<void>()
        socket.send(audio.subarray(at, at + MAX_FRAME_BYTES), () => sent.resolve())
        if (socket.bufferedAmount > MAX_UNSENT_BYTES) await sent.promise
      }
    },
    stop() {
      if (socket.readyState === socket.OPEN) socket.send('{"type":"stop_recording"}')
    },
  }
}

/** Parses JSON that may be none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
