import { setTimeout as sleep } from 'node:timers/promises'
import type { Surroundings } from './servers/isolated-server.ts'

/** The tools of an attack. It ends when `signal` aborts, or when it has spent its bytes. */
export type Attacker = {
  url: string
  key: string
  signal: AbortSignal
  /**
   * Address of a receiver of the attacker on loopback, without a slash at its end: see
   * `sources.ts`.
   */
  sources: string
  /** Sends a request with the attacker's key; counts its response, and resolves to it. */
  send(path: string, init?: Request): Promise<RequestResponse>
  count(what: string): void
  /** Takes bytes from the budget of the attack; false when there are none left. */
  spend(bytes: number): boolean
  /** Runs `act` repeatedly in `concurrency` loops at once, until the end. */
  repeat(concurrency: number, act: (loop: number) => Promise<void>): Promise<void>
}

export type Request = {
  method?: string
  json?: unknown
  /** A JSON body that is sent unchanged. */
  text?: string
  body?: RequestInit['body']
  headers?: Record<string, string>
}

export type RequestResponse = { status: number; text: string }

/** An attack, and the setup of the server that it needs. */
export type Attack = {
  run(attacker: Attacker): Promise<void>
  surroundings?: Surroundings
}

/** Maximum bytes that an attack sends. */
const BUDGET_BYTES = 2e9
/**
 * The pause between two acts of a loop: an attacker would be another machine, so it must not use
 * this machine's processor.
 */
const PAUSE_MS = 20
/** Maximum characters of a response that are kept. */
const KEPT_CHARS = 20_000

/** Creates an attacker of one server. It fills `counts` with the outcomes. */
export function createAttacker(
  { url, key, sources }: Pick<Attacker, 'url' | 'key' | 'sources'>,
  { signal, counts }: { signal: AbortSignal; counts: Map<string, number> },
): Attacker {
  let left = BUDGET_BYTES
  const count = (what: string) => void counts.set(what, (counts.get(what) ?? 0) + 1)

  async function send(
    path: string,
    { json, text, ...init }: Request = {},
  ): Promise<RequestResponse> {
    const sent = text ?? (json === undefined ? undefined : JSON.stringify(json))
    const body = sent ?? init.body
    if (typeof body === 'string' && !spend(body.length)) return { status: 0, text: '' }
    const isJson = sent !== undefined
    const headers = {
      'x-service-key': key,
      ...(isJson && { 'content-type': 'application/json' }),
      ...init.headers,
    }
    const method = init.method ?? (body === undefined ? 'GET' : 'POST')
    const request = { method, headers, body: body ?? null, signal, duplex: 'half' } as RequestInit
    const response = await fetch(url + path, request)
    count(String(response.status))
    return { status: response.status, text: await readSome(response) }
  }

  /** Reads the whole response and returns its beginning. */
  async function readSome(answer: Response): Promise<string> {
    let kept = ''
    for await (const bytes of answer.body ?? []) {
      if (kept.length < KEPT_CHARS) kept += Buffer.from(bytes).toString('latin1')
    }
    return kept
  }

  function spend(bytes: number): boolean {
    left -= bytes
    return left > 0
  }

  async function repeat(concurrency: number, act: (loop: number) => Promise<void>): Promise<void> {
    const run = async (loop: number) => {
      while (!signal.aborted && left > 0) {
        await act(loop).catch((error: Error) => {
          if (!signal.aborted) count(`error: ${nameOf(error)}`)
        })
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
      }
    }
    await Promise.all(Array.from({ length: concurrency }, (_, loop) => run(loop)))
  }

  return { url, key, signal, sources, send, count, spend, repeat }
}

/** Returns a short name of an error, as a key of counts. */
export function nameOf(error: Error): string {
  const { code } = (error.cause ?? error) as { code?: string }
  return code ?? error.message.slice(0, 60)
}
