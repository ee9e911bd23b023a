import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { callServer, type LiveSession, openLiveSession, type Server } from '../live-session.ts'
import { ProtocolError, readEvents, type WyomingEvent, writeEvent } from './events.ts'

/** What sessions are created with where a client asks for nothing else. */
export type WyomingOptions = {
  server: Server
  language?: string | undefined
  model?: string | undefined
  /** Called with each failure that a client is told of. */
  onError?: (message: string) => void
}

/** One speech: its session, and its text so far. */
type Speech = { session: LiveSession; text: string; language: string | undefined }

type Model = { id: string; languages: string[] }

/** Clients that are connected at the same time. */
const MAX_CLIENTS = 64
/** A client that neither sends nor reads for this long is gone. */
const IDLE_MS = 300_000
/** Words to listen for that a session takes of a client. */
const [MAX_WORDS, MAX_WORD_CHARS] = [100, 100]

/**
 * Creates the server that speaks the Wyoming protocol in front of Steno; it does not listen yet.
 */
export function createWyomingServer(options: WyomingOptions): NetServer {
  const server = createServer((socket) => {
    socket.setTimeout(IDLE_MS, () => socket.destroy())
    socket.on('error', () => {}) // A client may leave at any time.
    void new Client(socket, options).serve()
  })
  server.maxConnections = MAX_CLIENTS
  return server
}

/** One connection. Its events are handled one after the other; meanwhile the socket is not read. */
class Client {
  readonly #socket: Socket
  readonly #options: WyomingOptions
  /** What the last `transcribe` asked for. */
  #wanted: Record<string, unknown> = {}
  #speech: Speech | undefined

  constructor(socket: Socket, options: WyomingOptions) {
    this.#socket = socket
    this.#options = options
  }

  async serve(): Promise<void> {
    try {
      for await (const event of readEvents(this.#socket)) await this.#handle(event)
    } catch (error) {
      // Home Assistant waits for a transcript until the connection ends.
      this.#fail(error as Error)
    }
    this.#speech?.session.stop()
    this.#socket.end()
  }

  async #handle({ type, data, payload }: WyomingEvent): Promise<void> {
    switch (type) {
      case 'describe':
        this.#send('info', await this.#describe())
        break
      case 'ping':
        this.#send('pong', data)
        break
      case 'transcribe':
        this.#wanted = data
        break
      case 'audio-start':
        this.#speech?.session.stop()
        this.#speech = await this.#open(data)
        break
      case 'audio-chunk':
        this.#speech ??= await this.#open(data)
        await this.#speech.session.send(payload)
        break
      case 'audio-stop':
        await this.#finish()
        break
      default: // The protocol has events for other services; servers ignore what they do not know.
    }
  }

  async #open({ rate, width, channels }: Record<string, unknown>): Promise<Speech> {
    const { language: usual, model: defaultModel, server } = this.#options
    const { language, name } = this.#wanted
    const wantedLanguage = typeof language === 'string' && language ? language : usual
    const model = typeof name === 'string' && name ? name : defaultModel
    const vocabulary = this.#vocabulary()
    const speech: Pick<Speech, 'text' | 'language'> = { text: '', language: wantedLanguage }
    const params = {
      encoding: 'wav/pcm',
      sample_rate: rate ?? 16_000,
      bit_depth: 8 * Number(width ?? 2),
      channels: channels ?? 1,
      ...(model && { model }),
      ...(wantedLanguage && { language_config: { languages: [wantedLanguage] } }),
      ...(vocabulary.length > 0 && {
        realtime_processing: { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } },
      }),
    }
    const session = await openLiveSession(server, params, ({ type, data }) => {
      const { is_final: isFinal, utterance } = data ?? {}
      if (type !== 'transcript' || !isFinal || !utterance) return
      const { text, language: spoken } = utterance
      const chunk = speech.text === '' ? text.trim() : ` ${text.trim()}`
      speech.language ??= spoken
      if (speech.text === '') this.#send('transcript-start', languageOf(speech))
      speech.text += chunk
      this.#send('transcript-chunk', { text: chunk })
    })
    return Object.assign(speech, { session })
  }

  /** Ends the audio; answers with the whole text, which older clients wait for. */
  async #finish(): Promise<void> {
    const speech = this.#speech
    this.#speech = undefined
    if (!speech) throw new ProtocolError('audio-stop came without audio')
    speech.session.stop()
    await speech.session.ended
    if (speech.text === '') this.#send('transcript-start', languageOf(speech))
    this.#send('transcript', { text: speech.text, ...languageOf(speech) })
    this.#send('transcript-stop')
  }

  #vocabulary(): string[] {
    const { transcript_names: names, transcript_terms: terms } = this.#wanted
    return [names, terms]
      .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
      .filter((word): word is string => typeof word === 'string' && word.trim() !== '')
      .filter((word) => word.length <= MAX_WORD_CHARS)
      .slice(0, MAX_WORDS)
  }

  async #describe(): Promise<object> {
    const { data } = await callServer<{ data: Model[] }>(this.#options.server, '/v1/models')
    const attribution = { name: 'Steno', url: '' }
    const common = { attribution, installed: true, version: null }
    const models = data.map(({ id, languages }) => {
      return { ...common, name: id, description: `The model ${id}`, languages }
    })
    const program = {
      ...common,
      name: 'steno',
      description: 'Speech to text on your own server',
      models,
      supports_transcript_streaming: true,
    }
    const others = ['tts', 'handle', 'intent', 'wake', 'mic', 'snd'].map((name) => [name, []])
    return { asr: [program], ...Object.fromEntries(others) }
  }

  #fail({ message }: Error): void {
    this.#options.onError?.(message)
    this.#send('error', { text: message })
  }

  #send(type: string, data?: object): void {
    if (this.#socket.writable) this.#socket.write(writeEvent(type, data))
  }
}

function languageOf({ language }: Pick<Speech, 'language'>): object {
  return language ? { language } : {}
}
