import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** The timeout of a request. */
const TIMEOUT_MS = 30_000

export type Response = { status: number; text: string }

/** Sends requests with the victim's key, and records the time of each response. */
export type Requests = {
  /** Milliseconds that the timed requests took. */
  readonly times: number[]
  /** Counts of unexpected responses, by request and status. */
  readonly failures: Map<string, number>
  /** Sends a request and records its time from `due`; status 0 means no response. */
  timed(path: string, options: { due: number; expected: number; json?: unknown }): Promise<Response>
  /** Sends a request without recording its time. */
  request(path: string, init?: RequestInit): Promise<Response>
}

/** Creates the requests to the server at `url`. */
export function createRequests({ url, key }: { url: string; key: string }): Requests {
  const times: number[] = []
  const failures = new Map<string, number>()

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'x-service-key': key, ...(init.headers as Record<string, string>) }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    try {
      const response = await fetch(url + path, { ...init, headers, signal })
      return { status: response.status, text: await response.text() }
    } catch (error) {
      const { cause, name } = error as { cause?: { code?: string }; name: string }
      return { status: 0, text: cause?.code ?? name }
    }
  }

  async function timed(
    path: string,
    { due, expected, json }: { due: number; expected: number; json?: unknown },
  ): Promise<Response> {
    const init = json === undefined ? {} : jsonPost(json)
    const answer = await request(path, init)
    times.push(performance.now() - due)
    if (answer.status !== expected) {
      const what = `${path.replace(/[0-9a-f-]{36}/, ':id')}: ${answer.status || answer.text}`
      failures.set(what, (failures.get(what) ?? 0) + 1)
    }
    return answer
  }

  return { times, failures, timed, request }
}

/** Returns the options with which fetch sends a value as JSON. */
export function jsonPost(value: unknown): RequestInit {
  const headers = { 'content-type': 'application/json' }
  return { method: 'POST', headers, body: JSON.stringify(value) }
}

/**
 * Calls `act` every `ms` until `end`, without waiting for it; resolves when all calls have ended.
 */
export async function every(
  ms: number,
  end: number,
  act: (n: number, due: number) => Promise<void>,
): Promise<void> {
  const acts: Promise<void>[] = []
  const start = performance.now()
  for (let n = 0; start + n * ms < end; n++) {
    const due = start + n * ms
    const wait = due - performance.now()
    if (wait > 0) await sleep(wait)
    acts.push(act(n, due))
  }
  await Promise.all(acts)
}
