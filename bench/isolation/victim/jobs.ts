import { setTimeout as sleep } from 'node:timers/promises'
import { wavOf } from '../../support/wav.ts'
import { readSamples } from '../attacks/speech.ts'
import type { VictimReceiver } from './receiver.ts'
import { every, jsonPost, type Requests } from './requests.ts'

/** The interval of jobs with their own recording, alternately uploaded and fetched. */
const ORDINARY_MS = 4000
/** The interval of checks for ended jobs. */
const LOOK_MS = 1000
/** The size of the recording of small jobs. */
const SMALL_BYTES = 32_000

/** The outcome of the accepted jobs. */
export type JobsOutcome = {
  accepted: number
  done: number
  /** Jobs that failed or no longer exist. */
  lost: number
  /** Counts of errors of jobs and refusals of ordinary ones, by their description. */
  problems: Record<string, number>
  /** Milliseconds from the upload of an ordinary job to its callback. */
  times: number[]
}

/** The victim's jobs: small ones that share a recording, and ordinary ones. */
export type VictimJobs = {
  /** The parameters of a small job. */
  smallJob: Record<string, unknown>
  accept(response: { status: number; text: string }): void
  readonly lastId: string | undefined
  /** Creates ordinary jobs until `end`. */
  run(end: number): Promise<void>
  /** Waits until all jobs have ended, at most `ms` milliseconds. */
  settle(ms: number): Promise<JobsOutcome>
}

/** Uploads the recording that small jobs share. */
export async function createVictimJobs(
  requests: Requests,
  receiver: VictimReceiver,
): Promise<VictimJobs> {
  const samples = await readSamples()
  const small = await upload(requests, wavOf(samples.subarray(0, SMALL_BYTES)))
  if (small.url === undefined) throw new Error(`the victim cannot upload: ${small.problem}`)
  const ids: string[] = []
  const ordinary: { path: string; started: number; id: string | undefined }[] = []
  const problems = new Map<string, number>()
  const note = (problem: string) => void problems.set(problem, (problems.get(problem) ?? 0) + 1)

  function accept({ status, text }: { status: number; text: string }): string | undefined {
    if (status !== 201) return undefined
    const { id } = JSON.parse(text) as { id: string }
    ids.push(id)
    return id
  }

  async function makeOrdinary(n: number): Promise<void> {
    const started = performance.now()
    const path = `/callback/${n}`
    const job = { path, started, id: undefined as string | undefined }
    ordinary.push(job)
    const isSent = n % 2 === 0
    const sent = isSent
      ? await upload(requests, wavOf(samples))
      : { url: `${receiver.url}/talk.wav` }
    if (sent.url === undefined) return note(`upload: ${sent.problem}`)
    const response = await createJob(requests, { url: sent.url, callback: receiver.url + path })
    job.id = accept(response)
    if (!job.id) note(`creation: ${response.status || response.text}`)
  }

  async function settle(ms: number): Promise<JobsOutcome> {
    const deadline = performance.now() + ms
    const called = ordinary.filter(({ id }) => id)
    let jobs: Map<string, Job> | undefined
    const isOpen = () => {
      const waits = (id: string) => ['queued', 'processing'].includes(jobs?.get(id)?.status ?? '')
      return !jobs || ids.some(waits) || called.some(({ path }) => !receiver.came.has(path))
    }
    do {
      jobs = (await listJobs(requests)) ?? jobs
      if (isOpen()) await sleep(LOOK_MS)
    } while (isOpen() && performance.now() < deadline)
    const states = ids.map((id) => jobs?.get(id))
    for (const problem of problemsOf(states)) note(problem)
    const silent = called.filter(({ path }) => !receiver.came.has(path))
    for (const { id } of silent) if (jobs?.get(id!)?.status === 'done') note('no callback')
    return {
      ...countStates(states),
      problems: Object.fromEntries(problems),
      times: timesOf(ordinary, receiver),
    }
  }

  return {
    smallJob: { audio_url: small.url },
    accept,
    get lastId() {
      return ids.at(-1)
    },
    run: (end) => every(ORDINARY_MS, end, makeOrdinary),
    settle,
  }
}

function createJob({ request }: Requests, { url, callback }: { url: string; callback: string }) {
  const params = { audio_url: url, callback: true, callback_config: { url: callback } }
  return request('/v2/pre-recorded', jsonPost(params))
}

function problemsOf(states: readonly (Job | undefined)[]): string[] {
  const others = states.filter((job) => job?.status !== 'done')
  return others.map((job) => `job: ${job?.status ?? 'gone'} ${job?.error_code ?? ''}`)
}

/** Returns how long each callback took. */
function timesOf(
  sent: readonly { path: string; started: number }[],
  { came }: VictimReceiver,
): number[] {
  return sent.flatMap(({ path, started }) => {
    const first = came.get(path)
    return first ? [first.at - started] : []
  })
}

/** Counts jobs by their states; `undefined` are those that are gone. */
function countStates(states: readonly (Job | undefined)[]) {
  return {
    accepted: states.length,
    done: states.filter((job) => job?.status === 'done').length,
    lost: states.filter((job) => !job || job.status === 'error').length,
  }
}

type Job = { id: string; status: string; error_code: number | null }
async function listJobs({ request }: Requests): Promise<Map<string, Job> | undefined> {
  const { status, text } = await request('/v2/pre-recorded?limit=1000')
  if (status !== 200) return undefined
  const { items } = JSON.parse(text) as { items: Job[] }
  return new Map(items.map((job) => [job.id, job]))
}

async function upload(
  { request }: Requests,
  wav: Buffer,
): Promise<{ url?: string | undefined; problem?: string }> {
  const form = new FormData()
  form.set('audio', new Blob([new Uint8Array(wav)]), 'talk.wav')
  const { status, text } = await request('/v2/upload', { method: 'POST', body: form })
  if (status !== 200) return { problem: `${status || text}` }
  return { url: (JSON.parse(text) as { audio_url: string }).audio_url }
}
