import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { WebSocket } from 'ws'
import { call } from '../../net/http-client.ts'
import type { TestServer } from '../../server/start-server.ts'
import type { LiveMessage, LiveType, MessageOf } from './live-messages.ts'

/** The response of `POST /v2/live`. */
export type OpenedSession = { id: string; created_at: string; url: string }

/** How a connection ended: code 1006 when it was cut without a close frame. */
export type Closed = { code: number; reason: string }

/** One WebSocket connection to a live session, for a test. */
export type LiveClient = {
  /** All messages so far, in order. */
  readonly messages: readonly LiveMessage[]
  /** The same messages as raw texts. */
  readonly texts: readonly string[]
  /** The arrival time of each, on the clock of `performance.now()`. */
  readonly arrivals: readonly number[]
  /** For operations that the other methods lack: pausing, pinging, raw frames. */
  readonly socket: WebSocket
  /** Sends audio as a binary frame. */
  send(bytes: Uint8Array): void
  /** Sends audio as base64 in a JSON frame. */
  sendBase64(bytes: Uint8Array): void
  sendJson(value: unknown): void
  /** Sends `stop_recording`. */
  stop(): void
  /**
   * Resolves to the first past or future message that matches; rejects when the connection ends
   * without one.
   */
  waitFor(predicate: (message: LiveMessage) => boolean): Promise<LiveMessage>
  /** Does the same among the messages of one type. */
  waitForType<T extends LiveType>(
    type: T,
    predicate?: (message: MessageOf<T>) => boolean,
  ): Promise<MessageOf<T>>
  /**
   * Resolves once the condition holds. It is checked now, after each message and at the end, where
   * it rejects.
   */
  until(condition: () => boolean): Promise<void>
  /** Resolves when the connection has ended, for whatever reason. */
  readonly closed: Promise<Closed>
  close(code?: number, reason?: string): void
  /** Cuts the TCP connection, without a close frame. */
  terminate(): void
}

/** Creates a live session and checks that the response is 201. */
export async function openSession(
  server: Pick<TestServer, 'url' | 'key'>,
  params: Record<string, unknown> = {},
): Promise<OpenedSession> {
  const { status, body } = await call<OpenedSession>(server, '/v2/live', { json: params })
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

/**
 * The options of a connection; `autoPong: false` makes a client that stays connected and does not
 * answer pings.
 */
export type ConnectOptions = { offset?: number; autoPong?: boolean }

/** Connects to the `url` of a session; rejects when the handshake fails. */
export async function connect(
  url: string,
  { offset, autoPong = true }: ConnectOptions = {},
): Promise<LiveClient> {
  const address = new URL(url)
  if (offset !== undefined) address.searchParams.set('offset', String(offset))
  const socket = new WebSocket(address, { perMessageDeflate: false, autoPong })
  const client = createLiveClient(socket)
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  return client
}

/**
 * Requests a connection and disconnects before the response, as a client whose handshake timed out
 * does; resolves when the server has noticed.
 */
export async function abandonHandshake(url: string): Promise<void> {
  const { hostname, port, pathname, search } = new URL(url)
  const socket = connectTcp(Number(port), hostname)
  socket.end(
    `GET ${pathname}${search} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  )
  socket.resume()
  await once(socket, 'close')
}

function createLiveClient(socket: WebSocket): LiveClient {
  const inbox = createInbox()
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<Closed>()
  // A cut connection is an error to the socket; to a test it is a way to end.
  socket.on('error', () => {})
  socket.on('message', (text) => inbox.add(String(text)))
  socket.on('close', (code, reason) => {
    inbox.end(`closed with ${code} ${reason}`)
    onClosed({ code, reason: String(reason) })
  })
  const sendJson = (value: unknown) => socket.send(JSON.stringify(value))
  return {
    ...inbox.reader,
    socket,
    send: (bytes) => socket.send(bytes, { binary: true }),
    sendBase64: (bytes) => sendJson(audioChunk(bytes)),
    sendJson,
    stop: () => sendJson({ type: 'stop_recording' }),
    closed,
    close: (code = 1000, reason = '') => socket.close(code, reason),
    terminate: () => socket.terminate(),
  }
}

/** Returns audio in the JSON frame of the API. */
export function audioChunk(bytes: Uint8Array): { type: 'audio_chunk'; data: { chunk: string } } {
  return { type: 'audio_chunk', data: { chunk: Buffer.from(bytes).toString('base64') } }
}

/** The received messages, over one connection or several, and the waiters for more. */
export type Inbox = {
  add(text: string): void
  /** Ends the inbox: rejects all waiters with the reason. */
  end(reason: string): void
  reader: Pick<LiveClient, 'messages' | 'texts' | 'arrivals' | 'waitFor' | 'waitForType' | 'until'>
}

/** Creates an empty inbox; `onMessage` is called before the waiters check. */
export function createInbox(onMessage?: (message: LiveMessage) => void): Inbox {
  const messages: LiveMessage[] = []
  const texts: string[] = []
  const arrivals: number[] = []
  const waiting = new Set<() => void>()
  let ended: string | undefined

  function look(): void {
    for (const check of [...waiting]) check()
  }

  function add(text: string): void {
    arrivals.push(performance.now())
    texts.push(text)
    const message = JSON.parse(text) as LiveMessage
    messages.push(message)
    onMessage?.(message)
    look()
  }

  function end(reason: string): void {
    ended = reason
    look()
  }

  function until(condition: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      function check(): void {
        if (condition()) resolve()
        else if (ended !== undefined) reject(new Error(`${ended}; received: ${summary(messages)}`))
        else return
        waiting.delete(check)
      }
      waiting.add(check)
      check()
    })
  }

  async function waitFor(predicate: (message: LiveMessage) => boolean): Promise<LiveMessage> {
    let looked = 0
    let found: LiveMessage | undefined
    await until(() => {
      while (!found && looked < messages.length) {
        const message = messages[looked++]!
        if (predicate(message)) found = message
      }
      return found !== undefined
    })
    return found!
  }

  function waitForType<T extends LiveType>(
    type: T,
    predicate: (message: MessageOf<T>) => boolean = () => true,
  ): Promise<MessageOf<T>> {
    const matches = (m: LiveMessage) => m.type === type && predicate(m as MessageOf<T>)
    return waitFor(matches) as Promise<MessageOf<T>>
  }

  return { add, end, reader: { messages, texts, arrivals, waitFor, waitForType, until } }
}

/** Returns the types of the last messages, for a failure text. */
function summary(messages: readonly LiveMessage[]): string {
  const last = messages.slice(-12).map(({ type }) => type)
  return `${messages.length} messages, at last ${last.join(', ')}`
}
