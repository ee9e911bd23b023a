import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * How the server treats a request; it gets the content, the offset that is asked for, and how many
 * bytes the client has stored.
 */
export type Responder = (
  response: ServerResponse,
  asked: { content: Buffer; offset: number; request: IncomingMessage; arrived: () => number },
) => void

/** A file server whose next requests can be given faulty responders, one each. */
export type ModelServer = {
  url: string
  /** What each path holds. */
  files: Map<string, Buffer>
  /** The responders of the next requests, in order; later ones get the file. */
  next: Responder[]
  /** Returns how many bytes the client has stored, if the test knows: a cut waits for them. */
  arrived: () => number
  /** All requests: their path, range and token. */
  seen: { path: string; range: string | undefined; authorization: string | undefined }[]
  close(): Promise<void>
}

/** Sends what was asked for, as a server should. */
export const serveNormally: Responder = (response, { content, offset }) => {
  const total = content.length
  const range = { 'content-range': `bytes ${offset}-${total - 1}/${total}` }
  response.writeHead(offset > 0 ? 206 : 200, {
    'content-length': total - offset,
    ...(offset > 0 && range),
  })
  response.end(content.subarray(offset))
}

/** Announces everything, sends `bytes` of it, then does `then`. */
export function sendPart(bytes: number, then: 'cut' | 'stall'): Responder {
  return (response, { content, offset, arrived }) => {
    const total = content.length
    response.writeHead(offset > 0 ? 206 : 200, {
      'content-length': total - offset,
      'content-range': `bytes ${offset}-${total - 1}/${total}`,
    })
    const cut = () => {
      // A client drops what it has not read yet when its connection breaks.
      if (arrived() >= offset + bytes) response.destroy()
      else setTimeout(cut, 5)
    }
    response.write(content.subarray(offset, offset + bytes), () => {
      if (then === 'cut') setTimeout(cut, 20)
    })
  }
}

/** Answers with a status and nothing else. */
export function refuse(status: number, headers: Record<string, string> = {}): Responder {
  return (response) => void response.writeHead(status, headers).end('no')
}

/** Starts the server on a free port. */
export async function startModelServer(): Promise<ModelServer> {
  const files = new Map<string, Buffer>()
  const next: Responder[] = []
  const seen: ModelServer['seen'] = []
  const server: Server = createServer((request, response) => {
    const path = request.url ?? ''
    const { range, authorization } = request.headers
    seen.push({ path, range, authorization })
    const content = files.get(path)
    if (!content) return void response.writeHead(404).end()
    const offset = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    const respond = next.shift() ?? serveNormally
    respond(response, { content, offset, request, arrived: () => model.arrived() })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const model: ModelServer = {
    url: `http://127.0.0.1:${port}`,
    files,
    next,
    seen,
    arrived: () => Number.POSITIVE_INFINITY,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return model
}
