import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { type LiveSession, openLiveSession, type Server } from '../live-session.ts'
import { isSigned } from './signature.ts'
import { readMessage, StreamError, type StreamMessage, type TrackName } from './stream-messages.ts'
import { TrackMixer } from './track-mixer.ts'

/** What is said in a call, or how its transcript ended. */
export type CallEvent = { call: string; stream: string; session: string } & (
  | { type: 'transcript'; track: TrackName; start: number; end: number; text: string }
  | { type: 'end'; error: string | null }
)

/** How streams are taken. */
export type TelephonyOptions = {
  server: Server
  language?: string | undefined
  model?: string | undefined
  /** The secret with which the provider signs its requests; without one, every stream is taken. */
  token?: string | undefined
  /** The address that the provider connects to, where a proxy hides it: `wss://HOST`. */
  publicUrl?: string | undefined
  onEvent(event: CallEvent): void
  /** Called with what goes wrong before a call has a session. */
  onError(message: string): void
}

/** Calls at the same time; a session each. */
const MAX_CALLS = 200
/** A message holds a fiftieth of a second; providers may send more at once. */
const MAX_MESSAGE_BYTES = 64 * 1024
/** A stream that sends nothing for this long is over. */
const SILENCE_MS = 60_000
/** Ids of providers have 34 characters. */
const MAX_ID = 100
/** Messages that wait until the session takes audio: two minutes of two tracks. */
const MAX_WAITING = 12_000

/** Creates the server that takes media streams of calls; it does not listen yet. */
export function createTelephonyServer(options: TelephonyOptions): HttpServer {
  const { token, publicUrl, onError } = options
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES })
  const server = createServer((_request, response) => {
    response.writeHead(426, { upgrade: 'websocket' }).end('Only media streams are taken here\n')
  })

  function isRefused(request: IncomingMessage): number | undefined {
    if (sockets.clients.size >= MAX_CALLS) return 503
    if (!token) return undefined
    const base = publicUrl?.replace(/\/$/, '') ?? `wss://${request.headers.host}`
    const given = String(request.headers['x-twilio-signature'] ?? '')
    return isSigned(`${base}${request.url}`, { token, given }) ? undefined : 403
  }

  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {})
    const status = isRefused(request)
    if (status !== undefined) {
      onError(`A stream was refused with ${status}`)
      socket.end(`HTTP/1.1 ${status} Refused\r\nconnection: close\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (stream) => new Call(stream, options))
  })
  server.on('close', () => {
    for (const stream of sockets.clients) stream.terminate()
  })
  return server
}

/** One stream: messages are handled one after the other, since a session takes time to open. */
class Call {
  readonly #stream: WebSocket
  readonly #options: TelephonyOptions
  #handled: Promise<void> = Promise.resolve()
  #waiting = 0
  #session: LiveSession | undefined
  #tracks: TrackName[] = []
  #mixer = new TrackMixer(1)
  #ids = { call: '', stream: '', session: '' }

  constructor(stream: WebSocket, options: TelephonyOptions) {
    this.#stream = stream
    this.#options = options
    const silence = setTimeout(() => stream.terminate(), SILENCE_MS)
    stream.on('error', () => {})
    stream.on('message', (data) => {
      silence.refresh()
      this.#queue(() => this.#handle(readMessage(String(data))))
    })
    stream.on('close', () => {
      clearTimeout(silence)
      this.#queue(() => this.#finish())
    })
  }

  #queue(work: () => Promise<void>): void {
    if (++this.#waiting > MAX_WAITING) this.#stream.terminate()
    this.#handled = this.#handled
      .then(work)
      .catch((error: Error) => this.#fail(error))
      .finally(() => this.#waiting--)
  }

  async #handle(message: StreamMessage): Promise<void> {
    switch (message.event) {
      case 'start':
        await this.#open(message)
        break
      case 'media': {
        const session = this.#session
        if (!session) return // The call failed, or has not started.
        const channel = this.#tracks.indexOf(message.track)
        if (channel < 0) throw new StreamError(`The track ${message.track} was not announced`)
        await session.send(this.#mixer.add(channel, message.audio, message.ms))
        break
      }
      case 'stop':
        await this.#finish()
        this.#stream.close(1000)
        break
      case 'other':
    }
  }

  async #open({ callId, streamId, tracks }: StreamMessage & { event: 'start' }): Promise<void> {
    if (this.#session) throw new StreamError('The stream has started already')
    const { server, language, model, onEvent } = this.#options
    this.#ids = { call: callId, stream: streamId, session: '' }
    this.#tracks = tracks
    this.#mixer = new TrackMixer(tracks.length)
    const params = {
      encoding: 'wav/ulaw',
      sample_rate: 8000,
      bit_depth: 8,
      channels: tracks.length,
      ...(model && { model }),
      ...(language && { language_config: { languages: [language] } }),
      custom_metadata: { call: callId.slice(0, MAX_ID), stream: streamId.slice(0, MAX_ID) },
    }
    const session = await openLiveSession(server, params, ({ type, data }) => {
      const { is_final: isFinal, utterance } = data ?? {}
      if (type !== 'transcript' || !isFinal || !utterance) return
      const { start, end, text, channel } = utterance
      const transcript = { track: tracks[channel] ?? 'inbound', start, end, text: text.trim() }
      onEvent({ type: 'transcript', ...this.#ids, ...transcript })
    })
    this.#session = session
    this.#ids.session = session.id
    session.ended.then(
      () => onEvent({ type: 'end', ...this.#ids, error: null }),
      ({ message }: Error) => {
        onEvent({ type: 'end', ...this.#ids, error: message })
        this.#stream.close(1011)
      },
    )
  }

  /** Ends the audio; the rest of the transcript still comes. */
  async #finish(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    if (!session) return
    await session.send(this.#mixer.finish())
    session.stop()
  }

  #fail(error: Error): void {
    const { call } = this.#ids
    this.#options.onError(`Call ${call || 'without a start'}: ${error.message}`)
    this.#stream.close(error instanceof StreamError ? 1007 : 1011)
  }
}
