import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A request to the provider, as it arrived. */
export type ChatCall = {
  authorization: string | undefined
  model: string
  messages: { role: string; content: string }[]
  max_tokens: number
  response_format?: unknown
}

/** How the provider answers: text, a status, or what a broken one does. */
export type ChatReply = string | number | 'stall' | { body: string } | { cut: true }

/**
 * A stand-in for a server with OpenAI's chat API, on a free port of this machine. It keeps every
 * request: what is not in `calls` never left the server.
 */
export async function startChatProvider(
  reply: (call: ChatCall, n: number) => ChatReply | Promise<ChatReply>,
) {
  const calls: ChatCall[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as Omit<ChatCall, 'authorization'>
    const call = { authorization: request.headers.authorization, ...body }
    calls.push(call)
    const answer = request.url === '/v1/chat/completions' ? await reply(call, calls.length) : 404
    if (answer === 'stall') return
    if (typeof answer === 'number') {
      response.writeHead(answer, { 'content-type': 'application/json' }).end('{"error":{}}')
      return
    }
    if (typeof answer === 'object' && 'cut' in answer) {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('{"choices":', () => response.destroy())
      return
    }
    const content = JSON.stringify({
      choices: [{ message: { role: 'assistant', content: answer } }],
      usage: { prompt_tokens: 100, completion_tokens: 10 },
    })
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(typeof answer === 'object' ? answer.body : content)
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

/** The texts that a translation request holds. */
export function textsToTranslate({ messages }: ChatCall): string[] {
  return (JSON.parse(messages[1]!.content) as { translate: string[] }).translate
}
