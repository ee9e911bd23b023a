import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'

/** A request to the provider, as it arrived. */
export type ChatCall = {
  authorization: string | undefined
  model: string
  messages: { role: string; content: string }[]
  max_tokens: number
  response_format?: unknown
  stream?: boolean
  stream_options?: unknown
}

/**
 * How the provider answers: a text, which is streamed where that is asked for, a status, or what a
 * broken one does. `body` is the JSON of a provider that does not stream. `chunks` are written as
 * they are, the next one when the last one was sent; `ending` is what follows them, by default the
 * end.
 */
export type ChatReply =
  | string
  | number
  | 'stall'
  | { status?: number; body: string }
  | { cut: true }
  | Streamed

type Streamed = {
  chunks: Iterable<string> | AsyncIterable<string>
  type?: string
  ending?: 'end' | 'stall' | 'break'
}

const USAGE = { prompt_tokens: 100, completion_tokens: 10 }

/** Returns the event of a stream that has this text. */
export function deltaOf(content: string, more: object = {}): string {
  return eventOf({ choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }] })
}

/** Returns an event of a stream. */
export function eventOf(fields: object | string): string {
  return `data: ${typeof fields === 'string' ? fields : JSON.stringify(fields)}\n\n`
}

/**
 * Returns the events of a response, as most providers send them: in small chunks, tokens at the
 * end.
 */
export function eventsOf(content: string): string[] {
  const third = Math.ceil(content.length / 3)
  const parts = [content.slice(0, third), content.slice(third, -third || content.length)]
  return [
    eventOf({ choices: [{ delta: { role: 'assistant', content: '' } }], usage: null }),
    ...[...parts, content.slice(parts.join('').length)].map((part) => deltaOf(part)),
    deltaOf('', { finish_reason: 'stop' }),
    eventOf({ choices: [], usage: USAGE }),
    eventOf('[DONE]'),
  ]
}

/**
 * A stand-in for a server with OpenAI's chat API, on a free port of this machine. It keeps every
 * request: what is not in `calls` never left the server. `models` is the JSON of its list of
 * models.
 */
export async function startChatProvider(
  reply: (call: ChatCall, n: number) => ChatReply | Promise<ChatReply>,
  { models = '{}' } = {},
) {
  const calls: ChatCall[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return void response.end(models)
    const body = JSON.parse(await text(request)) as Omit<ChatCall, 'authorization'>
    const call = { authorization: request.headers.authorization, ...body }
    calls.push(call)
    const answer = request.url === '/v1/chat/completions' ? await reply(call, calls.length) : 404
    if (answer === 'stall') return
    if (typeof answer === 'object' && 'cut' in answer) {
      const begun = [deltaOf('The beginning')]
      await stream(response, body.stream ? { chunks: begun, ending: 'break' } : broken)
    } else if (typeof answer === 'object' && 'chunks' in answer) {
      await stream(response, answer)
    } else if (typeof answer === 'string' && body.stream) {
      await stream(response, { chunks: eventsOf(answer) })
    } else {
      const given = typeof answer === 'number' ? { status: answer, body: '{"error":{}}' } : answer
      const content = typeof given === 'object' ? given.body : completionOf(given)
      const status = typeof given === 'object' ? (given.status ?? 200) : 200
      response.writeHead(status, { 'content-type': 'application/json' }).end(content)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    calls,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const broken: Streamed = { chunks: ['{"choices":'], type: 'application/json', ending: 'break' }

function completionOf(content: string): string {
  return JSON.stringify({ choices: [{ message: { role: 'assistant', content } }], usage: USAGE })
}

async function stream(response: ServerResponse, { chunks, type, ending }: Streamed): Promise<void> {
  response.writeHead(200, { 'content-type': type ?? 'text/event-stream' })
  const left = new Promise((resolve) => response.once('close', resolve))
  for await (const chunk of chunks) {
    if (response.closed) return
    await Promise.race([left, new Promise((resolve) => response.write(chunk, resolve))])
    // Its client is in the same process.
    await setImmediate()
  }
  if (ending === 'break') response.destroy()
  else if (ending !== 'stall') response.end()
}

/** The texts that a translation request holds. */
export function textsToTranslate({ messages }: ChatCall): string[] {
  return (JSON.parse(messages[1]!.content) as { translate: string[] }).translate
}
