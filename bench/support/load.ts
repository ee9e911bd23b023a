import { Pool } from 'undici'

/** One request of a load; its body is read to the end. */
export type LoadRequest = { path: string; method?: 'GET' | 'POST'; json?: unknown; key?: string }

/**
 * The result of a load: responses per second, and percentiles of the response time in milliseconds.
 */
export type LoadResult = { perSecond: number; p50: number; p95: number; p99: number }

/** The number of connections, the duration in seconds, and the expected status. */
export type LoadOptions = { connections: number; seconds: number; status?: number }

/** Sends requests over several connections, each after the response to its last one. */
export async function load(
  url: string,
  next: () => LoadRequest,
  { connections, seconds, status = 200 }: LoadOptions,
): Promise<LoadResult> {
  const pool = new Pool(url, { connections })
  const times: number[] = []
  const end = performance.now() + seconds * 1000
  async function run(): Promise<void> {
    while (performance.now() < end) {
      const { path, method = 'GET', json, key = 'bench' } = next()
      const started = performance.now()
      const response = await pool.request({
        path,
        method,
        headers: {
          'x-service-key': key,
          ...(json ? { 'content-type': 'application/json' } : {}),
        },
        body: json ? JSON.stringify(json) : null,
      })
      const text = await response.body.text()
      if (response.statusCode !== status) throw new Error(`${path}: ${response.statusCode} ${text}`)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: connections }, run))
  await pool.destroy()
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!
  return { perSecond: times.length / seconds, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
