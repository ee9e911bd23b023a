/** A server that speaks the transcription API of OpenAI, and misbehaves when it is told to. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** One request, as it arrived. */
export type SeenRequest = {
  path: string
  authorization: string | undefined
  fields: Record<string, string | string[]>
  /** The file, with its WAV header. */
  audio: Buffer
}

/** How one request is treated. */
export type Responder = (response: ServerResponse, request: SeenRequest) => void

export type TranscriptionServer = {
  /** The address before `/audio/transcriptions`. */
  url: string
  seen: SeenRequest[]
  /** The responders of the next requests, in order; later ones get `usual`. */
  next: Responder[]
  usual: Responder
  /** Connections that clients gave up. */
  aborted: number
  close(): Promise<void>
}

/** Answers with JSON. */
export function respond(
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): Responder {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** Answers in the form that was asked for: a text, its segment and its words. */
export function respondWithText(text: string, { language = 'english' } = {}): Responder {
  return (response, request) => {
    const seconds = (request.audio.length - 44) / 32_000
    const texts = text.split(' ')
    const step = seconds / texts.length
    const words = texts.map((word, i) => ({ word, start: i * step, end: (i + 1) * step }))
    const segments = [{ text, start: 0, end: seconds, avg_logprob: -0.1, no_speech_prob: 0.01 }]
    const isVerbose = request.fields.response_format === 'verbose_json'
    const hasWords = request.fields['timestamp_granularities[]'] !== undefined
    const verbose = { task: 'transcribe', language, duration: seconds, segments }
    respond({ text, ...(isVerbose && verbose), ...(isVerbose && hasWords && { words }) })(
      response,
      request,
    )
  }
}

/** Starts the server on a free port; it says "hello world" unless told otherwise. */
export async function startTranscriptionServer(): Promise<TranscriptionServer> {
  const server = createServer(async (request, response) => {
    response.on('close', () => {
      if (!response.writableEnded) opened.aborted++
    })
    const body = await buffer(request)
    const headers = { 'content-type': request.headers['content-type'] ?? '' }
    const form = await new Response(body, { headers }).formData()
    const names = [...new Set(form.keys())].filter((name) => name !== 'file')
    const entries = names.map((name) => {
      const all = form.getAll(name).map(String)
      return [name, all.length > 1 ? all : all[0]!] as const
    })
    const audio = Buffer.from(await (form.get('file') as File).arrayBuffer())
    const { url: path = '' } = request
    const { authorization } = request.headers
    const seen = { path, authorization, fields: Object.fromEntries(entries), audio }
    opened.seen.push(seen)
    const respond = opened.next.shift() ?? opened.usual
    respond(response, seen)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const opened: TranscriptionServer = {
    url: `http://127.0.0.1:${port}/v1`,
    seen: [],
    next: [],
    usual: respondWithText('hello world'),
    aborted: 0,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return opened
}
