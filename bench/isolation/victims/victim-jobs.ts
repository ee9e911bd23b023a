import { setTimeout as sleep } from 'node:timers/promises'
import { wavOf } from '../../wav.ts'
import { readSamples } from '../attacks/speech.ts'
import type { VictimReceiver } from './victim-receiver.ts'
import { every, jsonPost, type Requests } from './victim-requests.ts'

/** Between two jobs with a recording of their own, one sent and the next one fetched. */
const ORDINARY_MS = 4000
/** Between two looks at what has ended. */
const LOOK_MS = 1000
/** Of the recording of small jobs. */
const SMALL_BYTES = 32_000

/** What came of the jobs that were accepted. */
export type JobsOutcome = {
  accepted: number
  done: number
  /** Ended badly, gone, or never called back. */
  lost: number
  /** Errors of jobs and refusals of ordinary ones, by what they say. */
  problems: Record<string, number>
  /** Of ordinary jobs: from before their upload to their callback, milliseconds. */
  times: number[]
}

/** The victim's jobs: small ones that share a recording, and ordinary ones. */
export type VictimJobs = {
  /** What a small job is created with. */
  smallJob: Record<string, unknown>
  accept(answer: { status: number; text: string }): void
  readonly lastId: string | undefined
  /** Makes ordinary jobs until `end`. */
  live(end: number): Promise<void>
  /** Waits until all have ended, so many milliseconds at most. */
  settle(ms: number): Promise<JobsOutcome>
}

/** Uploads what small jobs share. */
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
  let lastId: string | undefined

  function accept({ status, text }: { status: number; text: string }): string | undefined {
    if (status !== 201) return undefined
    const { id } = JSON.parse(text) as { id: string }
    lastId = id
    ids.push(id)
    return id
  }

  async function makeOrdinary(n: number): Promise<void> {
    const started = performance.now()
    const path = `/callback/${n}`
    const own = { path, started, id: undefined as string | undefined }
    ordinary.push(own)
    const sent =
      n % 2 === 0 ? await upload(requests, wavOf(samples)) : { url: `${receiver.url}/talk.wav` }
    if (sent.url === undefined) return note(`upload: ${sent.problem}`)
    const callback_config = { url: receiver.url + path }
    const params = { audio_url: sent.url, callback: true, callback_config }
    const answer = await requests.request('/v2/pre-recorded', jsonPost(params))
    own.id = accept(answer)
    if (!own.id) note(`creation: ${answer.status || answer.text}`)
  }

  type Job = { id: string; status: string; error_code: number | null }
  async function look(): Promise<Map<string, Job> | undefined> {
    const { status, text } = await requests.request('/v2/pre-recorded?limit=1000')
    if (status !== 200) return undefined
    const { items } = JSON.parse(text) as { items: Job[] }
    return new Map(items.map((job) => [job.id, job]))
  }

  async function settle(ms: number): Promise<JobsOutcome> {
    const deadline = performance.now() + ms
    let jobs: Map<string, Job> | undefined
    const isOpen = () => {
      const waits = (id: string) => ['queued', 'processing'].includes(jobs?.get(id)?.status ?? '')
      return (
        !jobs || ids.some(waits) || ordinary.some(({ id, path }) => id && !receiver.came.has(path))
      )
    }
    do {
      jobs = (await look()) ?? jobs
      if (isOpen()) await sleep(LOOK_MS)
    } while (isOpen() && performance.now() < deadline)
    const states = ids.map((id) => jobs?.get(id))
    for (const job of states) {
      if (job?.status !== 'done') note(`job: ${job?.status ?? 'gone'} ${job?.error_code ?? ''}`)
    }
    const unheard = ordinary.filter(({ id, path }) => id && !receiver.came.has(path))
    for (const { id } of unheard) if (jobs?.get(id!)?.status === 'done') note('no callback')
    const done = states.filter((job) => job?.status === 'done').length
    return {
      accepted: ids.length,
      done,
      lost: states.filter((job) => !job || job.status === 'error').length,
      problems: Object.fromEntries(problems),
      times: ordinary.flatMap(({ path, started }) => {
        const came = receiver.came.get(path)
        return came ? [came.at - started] : []
      }),
    }
  }

  return {
    smallJob: { audio_url: small.url },
    accept,
    get lastId() {
      return lastId
    },
    live: (end) => every(ORDINARY_MS, end, makeOrdinary),
    settle,
  }
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
