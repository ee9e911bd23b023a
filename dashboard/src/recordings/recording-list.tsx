import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { hasScope, type Job } from '../api/api.ts'
import { formatDateTime, formatTime } from '../components/format.ts'
import { TryAgain } from '../components/try-again.tsx'
import { texts } from '../texts.ts'
import { failureMessage } from './failures-page.tsx'
import { deleteJob, isFiltered, jobName, page, pendingDeletions, progress } from './list-state.ts'
import { cancelJob, removeUpload, retryUpload, type Upload, uploads } from './uploads.ts'

const t = texts.recordings

/** Shows the uploads, then the jobs, newest first. */
export function RecordingList(): JSX.Element {
  const jobs = page.value?.items.filter(({ id }) => !pendingDeletions.value.has(id))
  const rows = (jobs?.length ?? 0) + uploads.value.length
  if (jobs && rows === 0) return <p class="empty">{isFiltered() ? t.noneFound : t.none}</p>
  return (
    <>
      {rows > 0 && <Table jobs={jobs ?? []} />}
      {!jobs && <p>{texts.loading}</p>}
    </>
  )
}

function Table({ jobs }: { jobs: readonly Job[] }): JSX.Element {
  return (
    <table class="stacked list" aria-label={t.list}>
      <thead>
        <tr>
          <th scope="col">{t.columns.name}</th>
          <th scope="col">{t.columns.status}</th>
          <th scope="col">{t.columns.duration}</th>
          <th scope="col">{t.columns.created}</th>
          <th scope="col">
            <span class="visually-hidden">{t.columns.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {uploads.value.map((upload) => (
          <UploadRow key={`upload ${upload.id}`} upload={upload} />
        ))}
        {jobs.map((job) => (
          <JobRow key={job.id} job={job} />
        ))}
      </tbody>
    </table>
  )
}

function UploadRow({ upload }: { upload: Upload }): JSX.Element {
  const { id, name, state, fraction, problem } = upload
  const row = useRef<HTMLTableRowElement>(null)
  // The upload scrolls into view, because in a small window nobody would see that it has begun.
  useEffect(() => row.current?.scrollIntoView({ block: 'nearest' }), [])
  return (
    <tr ref={row}>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td colSpan={3}>
        {state === 'sending' && (
          <>
            {t.uploading}
            <progress aria-label={t.progressOf(name)} value={fraction} />
          </>
        )}
        {state === 'waiting' && t.waiting}
        {state === 'failed' && <span class="problem">{problem}</span>}
      </td>
      <td class="actions">
        {state === 'failed' && (
          <button type="button" onClick={() => retryUpload(id)}>
            {texts.retry}
          </button>
        )}
        <button
          type="button"
          aria-label={state === 'failed' ? t.removeUpload(name) : t.cancelJob(name)}
          onClick={() => removeUpload(id)}
        >
          {state === 'failed' ? texts.remove : texts.cancel}
        </button>
      </td>
    </tr>
  )
}

function JobRow({ job }: { job: Job }): JSX.Element {
  const name = jobName(job)
  const { id, kind, status, file, created_at } = job
  const hasEnded = status === 'done' || status === 'error'
  const scope = kind === 'live' ? 'live' : 'write'
  return (
    <tr>
      <th scope="row">
        <a href={`#/${kind}/${id}`}>
          <bdi>{name}</bdi>
        </a>
        <Metadata job={job} />
      </th>
      <td data-label={t.columns.status}>
        <Status job={job} />
      </td>
      <td data-label={t.columns.duration}>
        {file?.audio_duration ? formatTime(file.audio_duration) : '–'}
      </td>
      <td class="moment" data-label={t.columns.created}>
        {formatDateTime(created_at)}
      </td>
      <td class="actions">
        {hasScope('write') && status === 'error' && kind === 'pre-recorded' && (
          <TryAgain job={job} label={t.retryJob(name)} />
        )}
        {hasScope(scope) && hasEnded && (
          <button type="button" aria-label={t.deleteJob(name)} onClick={() => deleteJob(job)}>
            {texts.delete}
          </button>
        )}
        {hasScope('write') && !hasEnded && kind === 'pre-recorded' && (
          <button type="button" aria-label={t.cancelJob(name)} onClick={() => void cancelJob(id)}>
            {texts.cancel}
          </button>
        )}
      </td>
    </tr>
  )
}

function Metadata({ job }: { job: Job }): JSX.Element | null {
  const entries = Object.entries(job.custom_metadata ?? {})
  if (entries.length === 0) return null
  return (
    <span class="hint block">
      {entries.slice(0, 5).map(([name, value]) => (
        <bdi key={name} class="chip">
          {name}={typeof value === 'string' ? value : JSON.stringify(value)}
        </bdi>
      ))}
    </span>
  )
}

/** Shows the status of a job and, while it runs, its progress. */
function Status({ job }: { job: Job }): JSX.Element {
  const { id, status, error_code } = job
  const failure = failureMessage(job)
  const label = error_code === 499 ? t.canceled : t.status[status]
  const now = progress.value[id]
  const left = now?.seconds_left
  return (
    <>
      <span class={`state ${status}`}>{label}</span>
      {status === 'error' && error_code !== 499 && failure && (
        <span class="hint block" dir="auto">
          {failure}
        </span>
      )}
      {status === 'processing' && now?.stage && (
        <span class="hint block">
          {texts.stages[now.stage] ?? now.stage}
          {left != null && `, ${t.left(formatTime(left))}`}
        </span>
      )}
      {status === 'processing' && (
        <progress aria-label={label} value={now?.fraction ?? undefined} />
      )}
    </>
  )
}
