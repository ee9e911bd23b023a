import { setTimeout as sleep } from 'node:timers/promises'
import { wavOf } from '../../support/wav.ts'
import { readSamples } from '../attacks/speech.ts'
import { VICTIM_KEY } from '../servers/isolated-server.ts'
import { createVictimJobs, type JobsOutcome } from './jobs.ts'
import { type SessionOutcome, speakLive } from './live.ts'
import { openVictimReceiver } from './receiver.ts'
import { createRequests, every } from './requests.ts'

/** What an ordinary life came to. */
export type VictimOutcome = {
  /** Milliseconds. */
  requests: number[]
  failures: Record<string, number>
  sessions: SessionOutcome[]
  jobs: JobsOutcome
  /**
   * Longest hold of the server's loop that its metrics told, milliseconds; undefined when they did
   * not.
   */
  loopHoldMs: number | undefined
}

/** A victim that is ready to live. */
export type Victim = {
  /** Lives for so many seconds, then waits for what is open. */
  live(seconds: number): Promise<VictimOutcome>
  close(): void
}

const REQUEST_MS = 150
const METRICS_MS = 2000
/** Open jobs get so long when life is over. */
const SETTLE_MS = 45_000
/** A second session begins when so much of the time is over. */
const SECOND_SESSION = 0.3

/** Makes a victim of a server, and has it do everything once, so that nothing is measured cold. */
export async function createVictim(url: string): Promise<Victim> {
  const receiver = await openVictimReceiver(wavOf(await readSamples()))
  const pendingRequests = () => createRequests({ url, key: VICTIM_KEY })
  const warm = pendingRequests()
  await speakLive(warm, { seconds: 4, receiver })
  const jobs = await createVictimJobs(warm, receiver)
  jobs.accept(await warm.timed('/v2/pre-recorded', small(jobs.smallJob)))
  await jobs.settle(SETTLE_MS)
  // The metrics tell the longest hold since the last question: the start of the server does not
  // count.
  await warm.request('/metrics')

  async function live(seconds: number): Promise<VictimOutcome> {
    const requests = pendingRequests()
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
      measured.live(end),
    ])
    return {
      requests: requests.times,
      failures: Object.fromEntries(requests.failures),
      sessions: [first, second],
      jobs: await measured.settle(SETTLE_MS),
      loopHoldMs,
    }
  }

  return { live, close: () => receiver.close() }
}

const small = (json: Record<string, unknown>) => ({ json, expected: 201, due: performance.now() })

/** Milliseconds since the last question. */
function loopHold(metrics: string): number | undefined {
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(metrics) ?? []
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
