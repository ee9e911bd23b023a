import { setTimeout as sleep } from 'node:timers/promises'
import { wavOf } from '../../support/wav.ts'
import { readSamples } from '../attacks/speech.ts'
import { VICTIM_KEY } from '../servers/isolated-server.ts'
import { createVictimJobs, type JobsOutcome } from './jobs.ts'
import { type SessionOutcome, speakLive } from './live.ts'
import { openVictimReceiver } from './receiver.ts'
import { createRequests, every } from './requests.ts'

/** The outcome of the victim's run. */
export type VictimOutcome = {
  /** Milliseconds. */
  requests: number[]
  failures: Record<string, number>
  sessions: SessionOutcome[]
  jobs: JobsOutcome
  /**
   * The longest delay of the server's event loop in its metrics, in milliseconds; undefined without
   * metrics.
   */
  loopHoldMs: number | undefined
}

/** An ordinary client: a session, jobs and requests that run beside an attack. */
export type Victim = {
  /** Runs for `seconds`, then waits for open jobs. */
  run(seconds: number): Promise<VictimOutcome>
  close(): void
}

const REQUEST_MS = 150
const METRICS_MS = 2000
/** The longest wait for open jobs after the run. */
const SETTLE_MS = 45_000
/** The share of the run after which a second session begins. */
const SECOND_SESSION = 0.3

/** Creates a victim of a server and does everything once, so that nothing is measured cold. */
export async function createVictim(url: string): Promise<Victim> {
  const receiver = await openVictimReceiver(wavOf(await readSamples()))
  const createVictimRequests = () => createRequests({ url, key: VICTIM_KEY })
  const warm = createVictimRequests()
  await speakLive(warm, { seconds: 4, receiver })
  const jobs = await createVictimJobs(warm, receiver)
  jobs.accept(await warm.timed('/v2/pre-recorded', small(jobs.smallJob)))
  await jobs.settle(SETTLE_MS)
  // The metrics report the longest delay since the last request, so this request excludes the start
  // of the server.
  await warm.request('/metrics')

  async function run(seconds: number): Promise<VictimOutcome> {
    const requests = createVictimRequests()
    const measured = await createVictimJobs(requests, receiver)
    const end = performance.now() + seconds * 1000
    const kinds = [
      (due: number) => requests.timed('/v2/pre-recorded?limit=20', { due, expected: 200 }),
      (due: number) =>
        requests.timed(`/v2/pre-recorded/${measured.lastId ?? jobs.lastId}`, {
          due,
          expected: 200,
        }),
      async (due: number) =>
        measured.accept(
          await requests.timed('/v2/pre-recorded', { ...small(measured.smallJob), due }),
        ),
      (due: number) => requests.timed('/v2/transcription?limit=100', { due, expected: 200 }),
      (due: number) => requests.timed('/v2/live?limit=20', { due, expected: 200 }),
      (due: number) => requests.timed('/health', { due, expected: 200 }),
    ]
    let loopHoldMs: number | undefined
    const [first, second] = await Promise.all([
      speakLive(requests, { seconds, receiver }),
      sleep(seconds * 1000 * SECOND_SESSION).then(() => {
        return speakLive(requests, { seconds: seconds * (1 - SECOND_SESSION), receiver })
      }),
      every(REQUEST_MS, end, async (n, due) => void (await kinds[n % kinds.length]!(due))),
      every(METRICS_MS, end, async () => {
        const holdMs = loopHold((await requests.request('/metrics')).text)
        if (holdMs !== undefined) loopHoldMs = Math.max(loopHoldMs ?? 0, holdMs)
      }),
      measured.run(end),
    ])
    return {
      requests: requests.times,
      failures: Object.fromEntries(requests.failures),
      sessions: [first, second],
      jobs: await measured.settle(SETTLE_MS),
      loopHoldMs,
    }
  }

  return { run, close: () => receiver.close() }
}

const small = (json: Record<string, unknown>) => ({ json, expected: 201, due: performance.now() })

/** Parses the longest delay since the last request for metrics, in milliseconds. */
function loopHold(metrics: string): number | undefined {
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
