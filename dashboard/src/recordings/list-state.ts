import { signal } from '@preact/signals'
import {
  type ApiJobProgress,
  beforeSignOut,
  type Job,
  type JobPage,
  readProgress,
  request,
} from '../api/api.ts'
import { isolate } from '../components/format.ts'
import { addJobFilter, anyJob, type JobFilter } from '../components/job-filter.tsx'
import { notify, report } from '../components/notices.tsx'
import { texts } from '../texts.ts'

export type Filter = JobFilter & { status: string }

const PAGE = 25
const UNDO_MS = 8000

export const noFilter: Filter = { status: '', ...anyJob }
export const filter = signal<Filter>(noFilter)
/** Counted from 0. */
export const pageNumber = signal(0)
export const page = signal<JobPage | undefined>(undefined)
/** The number of `page`, which is shown until the one of `pageNumber` is loaded. */
export const loadedNumber = signal(0)
export const progress = signal<Readonly<Record<string, ApiJobProgress>>>({})
/** The jobs that are deleted when the time to undo is over. */
export const pendingDeletions = signal<ReadonlySet<string>>(new Set())

let latest = 0

/** Loads the current page of the list, and the progress of its running jobs. */
export async function reloadList(): Promise<void> {
  const turn = ++latest
  const number = pageNumber.value
  const loaded = await request<JobPage>(`v2/transcription?${listQuery()}`)
  // A late response must not replace a newer one.
  if (turn !== latest) return
  page.value = loaded
  loadedNumber.value = number
  leaveEmptyPage()
  const running = loaded.items.filter(({ kind, status }) => {
    return kind === 'pre-recorded' && status === 'processing'
  })
  const found = await Promise.all(
    running.map(async ({ id }) => [id, await readProgress(id)] as const),
  ).catch(() => [])
  if (turn === latest) progress.value = Object.fromEntries(found)
}

/** Shows the previous page if all jobs of the last page were deleted. */
function leaveEmptyPage(): void {
  const isEmpty = page.value?.items.every(({ id }) => pendingDeletions.value.has(id)) ?? false
  if (isEmpty && pageNumber.value > 0) pageNumber.value--
}

function listQuery(): URLSearchParams {
  const query = new URLSearchParams({ results: 'false', limit: String(PAGE) })
  query.set('offset', String(pageNumber.value * PAGE))
  const { status } = filter.value
  if (status) query.set('status', status)
  addJobFilter(query, filter.value)
  return query
}

/** Returns whether a filter leaves jobs out of the list. */
export function isFiltered(): boolean {
  return Object.values(filter.value).some((filterValue) => filterValue !== '')
}

/** Returns whether any job on the page will change by itself. */
export function hasActiveJobs(): boolean {
  const states = page.value?.items.map(({ status }) => status) ?? []
  return states.includes('queued') || states.includes('processing')
}

/** Returns the name of a job for people. */
export function jobName({ file, kind }: Job): string {
  return (
    file?.filename ??
    file?.source ??
    (kind === 'live' ? texts.recordings.kind.live : texts.recordings.unnamed)
  )
}

/** Hides a job, and deletes it unless the user undoes that within some seconds. */
export function deleteJob(job: Job): void {
  const { id, kind } = job
  pendingDeletions.value = new Set([...pendingDeletions.value, id])
  leaveEmptyPage()
  const keep = () => {
    pendingDeletions.value = new Set([...pendingDeletions.value].filter((jobId) => jobId !== id))
  }
  const stop = () => {
    clearTimeout(timer)
    removeEventListener('pagehide', leave)
    stopWaiting()
  }
  const send = (keepalive: boolean) => {
    stop()
    return request(`v2/${kind}/${id}`, { method: 'DELETE', keepalive })
  }
  const timer = setTimeout(() => {
    send(false).catch(report).then(reloadList).catch(report).finally(keep)
  }, UNDO_MS)
  // Leaving the page does not undo the deletion.
  const leave = () => void send(true)
  addEventListener('pagehide', leave)
  const stopWaiting = beforeSignOut(() => send(false))
  const hide = notify(texts.recordings.deleted(isolate(jobName(job))), {
    ms: UNDO_MS,
    undo() {
      stop()
      hide()
      keep()
    },
  })
}
