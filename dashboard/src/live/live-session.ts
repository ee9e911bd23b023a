import { signal } from '@preact/signals'
import type { ApiCreatedSession } from '../../../src/cli/client/api-types.ts'
import { beforeSignOut, createSession, request } from '../api/api.ts'
import { report } from '../components/notices.tsx'
import { texts } from '../texts.ts'
import { type Capture, openCapture, type Source } from './capture.ts'

/** A caption; a later one with the same id replaces it until it is final. */
export type Caption = { id: string; text: string; isFinal: boolean }

type Message = {
  type: string
  acknowledged?: boolean
  data?: {
    byte_range?: [number, number]
    id?: string
    is_final?: boolean
    utterance?: { text: string }
  }
  error?: { message: string } | null
}

export type LiveState =
  | 'idle'
  /** As `idle`, after the server did not answer the start of a session. */
  | 'unstarted'
  | 'starting'
  | 'listening'
  | 'reconnecting'
  | 'stopping'
  /** As `stopping`, but the server has been silent for long. */
  | 'unanswered'
  | 'ended'

/** The state of the session of this page; there is one at a time. */
export const liveState = signal<LiveState>('idle')
export const captions = signal<readonly Caption[]>([])
/** The session that runs, or else the last one. */
export const sessionId = signal('')

/** Maximum captions on the page; the transcript has all of them afterwards. */
const MAX_CAPTIONS = 200
const RECONNECT_MS = 1000
/** How long the server may be silent, at the start or after the stop, before the user is told. */
const SILENCE_MS = 30_000
/** Codes after which the client connects again (see the list of close codes in the API). */
const mayReconnect = (code: number) => code !== 1000 && code < 4400

let stopCurrent: (() => void) | undefined
let stopAtSignOut: (() => void) | undefined
let leaveCurrent: (() => void) | undefined
let silence = 0

/** Stops the running session; everything said until then is transcribed. */
export const stopSession = () => stopCurrent?.()

/** Ends the session of this page without its last captions, if the server does not send them. */
export const stopWaiting = () => leaveCurrent?.()

/** Captures audio and sends it until `stopSession`, the end of the audio or a failure. */
export async function startSession({ source, language }: { source: Source; language: string }) {
  liveState.value = 'starting'
  captions.value = []
  sessionId.value = ''
  let capture: Capture | undefined
  try {
    capture = await openCapture(source)
    const { id, url } = await createInTime({
      encoding: 'wav/pcm',
      bit_depth: 16,
      sample_rate: capture.sampleRate,
      channels: 1,
      messages_config: { receive_partial_transcripts: true },
      ...(language && { language_config: { languages: [language], code_switching: false } }),
    })
    sessionId.value = id
    await run(url, capture)
    liveState.value = 'ended'
  } catch (error) {
    if (!(error instanceof Unanswered)) {
      liveState.value = sessionId.value ? 'ended' : 'idle'
      throw error
    }
    liveState.value = 'unstarted'
    // It would count as a running session for some time.
    if (sessionId.value) {
      request(`v2/live/${sessionId.value}/cancel`, { method: 'POST' }).catch(() => {})
    }
    sessionId.value = ''
  } finally {
    stopCurrent = undefined
    leaveCurrent = undefined
    clearTimeout(silence)
    stopAtSignOut?.()
    await capture?.close()
  }
}

/** The server did not answer the start of a session in time. */
class Unanswered extends Error {}

async function createInTime(params: object): Promise<ApiCreatedSession> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), SILENCE_MS)
  try {
    return await createSession(params, controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? new Unanswered() : error
  } finally {
    clearTimeout(timer)
  }
}

addEventListener('beforeunload', (event) => {
  if (liveState.value === 'listening' || liveState.value === 'reconnecting') event.preventDefault()
})

/**
 * Resolves when the session has ended; reconnects if the connection is lost. Rejects with
 * `Unanswered` if there is no connection in time.
 */
async function run(url: string, capture: Capture): Promise<void> {
  const unsent = new UnacknowledgedAudio()
  let socket: WebSocket | undefined
  let isStopping = false
  let hasAllAudio = false
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    awaitAnswer()
    await capture.close()
    hasAllAudio = true
    if (socket?.readyState === WebSocket.OPEN) socket.send('{"type":"stop_recording"}')
  }
  stopCurrent = stop
  const left = Promise.withResolvers<undefined>()
  leaveCurrent = () => left.resolve(undefined)
  const unopened = setTimeout(() => {
    // After a stop, the user is told by `awaitAnswer`.
    if (!isStopping) left.reject(new Unanswered())
  }, SILENCE_MS)
  stopAtSignOut = beforeSignOut(stop)
  capture.onEnd = stop
  capture.onAudio = (bytes) => {
    if (hasAllAudio) return
    unsent.add(bytes)
    if (socket?.readyState === WebSocket.OPEN) socket.send(bytes)
  }
  for (;;) {
    socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    const current = socket
    current.onopen = () => {
      clearTimeout(unopened)
      if (!isStopping) liveState.value = 'listening'
      for (const bytes of unsent.all) current.send(bytes)
      if (hasAllAudio) current.send('{"type":"stop_recording"}')
    }
    current.onmessage = ({ data }) => {
      if (isStopping) awaitAnswer()
      receive(JSON.parse(data as string) as Message, unsent)
    }
    const closed = new Promise<number>((resolve) => {
      current.onclose = (event) => resolve(event.code)
    })
    const code = await Promise.race([closed, left.promise]).catch((error: unknown) => {
      leave(current)
      throw error
    })
    if (code === undefined) return leave(current)
    if (!mayReconnect(code)) return
    if (!isStopping) liveState.value = 'reconnecting'
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
  }
}

/** Closes a connection whose messages no longer matter. */
function leave(socket: WebSocket): void {
  socket.onopen = null
  socket.onmessage = null
  socket.close()
}

/** Waits for the server after the stop, and tells the user if it is silent for long. */
function awaitAnswer(): void {
  liveState.value = 'stopping'
  clearTimeout(silence)
  silence = window.setTimeout(() => {
    liveState.value = 'unanswered'
  }, SILENCE_MS)
}

/** Audio that the server has not yet stored, which is sent again after a lost connection. */
class UnacknowledgedAudio {
  all: ArrayBuffer[] = []
  /** The position, in bytes since the start of the session, of the first of `all`. */
  #start = 0

  add(bytes: ArrayBuffer): void {
    this.all.push(bytes)
  }

  drop(until: number): void {
    while (this.all.length > 0 && this.#start + this.all[0]!.byteLength <= until) {
      this.#start += this.all.shift()!.byteLength
    }
  }
}

function receive({ type, data, error, acknowledged }: Message, unsent: UnacknowledgedAudio): void {
  if (type === 'audio_chunk' && acknowledged && data?.byte_range) unsent.drop(data.byte_range[1])
  if (type === 'error') report(new Error(error?.message ?? texts.errors.unknown))
  if (type !== 'transcript' || !data?.id) return
  const caption = { id: data.id, text: data.utterance?.text.trim() ?? '', isFinal: !!data.is_final }
  captions.value = addCaption(captions.value, caption)
}

/**
 * Returns captions with a caption added, or replaced by its newer version; an empty caption is
 * removed.
 */
export function addCaption(all: readonly Caption[], caption: Caption): readonly Caption[] {
  const at = all.findIndex(({ id }) => id === caption.id)
  if (caption.text === '') return all.filter(({ id }) => id !== caption.id)
  if (at >= 0) return all.with(at, caption)
  return [...all, caption].slice(-MAX_CAPTIONS)
}
