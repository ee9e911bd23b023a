import { signal } from '@preact/signals'
import type { ApiUpload } from '../../../src/cli/client/api-types.ts'
import { createJob, RequestError, request, uploadFile } from '../api/api.ts'
import { route } from '../app/route.ts'
import { report } from '../components/notices.tsx'
import { reloadList } from './list-state.ts'

/** A recording that is not yet a job. */
export type Upload = {
  id: number
  name: string
  /** A file, or the address from which the server fetches the recording. */
  source: File | string
  json: object
  state: 'waiting' | 'sending' | 'failed'
  /** The fraction that was sent, from 0 to 1. */
  fraction: number
  problem: string
  abort: AbortController
}

/** The recordings that are not yet jobs, oldest first. */
export const uploads = signal<readonly Upload[]>([])

let lastId = 0
let isSending = false

/** Adds recordings to the queue. They are sent one at a time, and each becomes a job. */
export function addUploads(sources: readonly (File | string)[], json: object): void {
  const added = sources.map((source): Upload => {
    const name = typeof source === 'string' ? source : source.name
    const abort = new AbortController()
    return { id: ++lastId, name, source, json, state: 'waiting', fraction: 0, problem: '', abort }
  })
  uploads.value = [...uploads.value, ...added]
  void sendNext()
}

/** Cancels an upload in any state. */
export function removeUpload(id: number): void {
  uploads.value.find((upload) => upload.id === id)?.abort.abort()
  uploads.value = uploads.value.filter((upload) => upload.id !== id)
  void sendNext()
}

/** Queues a failed upload again. */
export function retryUpload(id: number): void {
  change(id, { state: 'waiting', problem: '', fraction: 0, abort: new AbortController() })
  void sendNext()
}

function change(id: number, changed: Partial<Upload>): void {
  uploads.value = uploads.value.map((upload) =>
    upload.id === id ? { ...upload, ...changed } : upload,
  )
}

async function sendNext(): Promise<void> {
  if (isSending) return
  const next = uploads.value.find(({ state }) => state === 'waiting')
  if (!next) return
  isSending = true
  let isRefused = false
  change(next.id, { state: 'sending' })
  try {
    const { audio_url } = await send(next)
    next.abort.signal.throwIfAborted()
    await createJob({ ...next.json, audio_url })
    uploads.value = uploads.value.filter(({ id }) => id !== next.id)
    await reloadList()
  } catch (error) {
    if (!next.abort.signal.aborted) {
      change(next.id, { state: 'failed', problem: (error as Error).message })
      isRefused = error instanceof RequestError && refusesAll(error)
      // The list of recordings shows the failure; on other pages, a notice does.
      if (route.value.length > 0) report(error)
    }
  } finally {
    isSending = false
    // The next uploads wait until the user tries again.
    if (!isRefused) void sendNext()
  }
}

/** Returns whether the next upload would fail as well: the server is away, or the sign-in ended. */
function refusesAll({ status }: RequestError): boolean {
  return status === 0 || status === 401
}

/** Uploads a file. An address is not uploaded, because the job fetches it. */
async function send({ id, source, abort: { signal } }: Upload): Promise<{ audio_url: string }> {
  if (typeof source === 'string') return { audio_url: source }
  const onProgress = (fraction: number) => change(id, { fraction })
  const uploaded: ApiUpload = await uploadFile(source, { onProgress, signal })
  return uploaded
}

addEventListener('beforeunload', (event) => {
  if (uploads.value.some(({ state }) => state !== 'failed')) event.preventDefault()
})

/** Cancels a job that waits or runs. */
export const cancelJob = (id: string) =>
  request(`v2/pre-recorded/${id}/cancel`, { method: 'POST' }).then(reloadList, report)
