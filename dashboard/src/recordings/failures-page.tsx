import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { hasScope, type Job, type JobPage, request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { inOrder } from '../api/in-order.ts'
import { formatDateTime } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { TryAgain } from '../components/try-again.tsx'
import { texts } from '../texts.ts'
import { jobName } from './list-state.ts'

const t = texts.failures
const LIMIT = 100
/** The `error_code` of canceled jobs, which are not failures. */
const CANCELED = 499

/** Shows the latest failed recordings and sessions by reason, with advice for each reason. */
export function FailuresPage(): JSX.Element {
  const [jobs, setJobs] = useState<readonly Job[]>()
  useEffect(() => {
    const show = inOrder(({ items }: JobPage) => setJobs(items))
    const query = new URLSearchParams({ status: 'error', results: 'false', limit: `${LIMIT}` })
    const load = () => void show(request<JobPage>(`v2/transcription?${query}`)).catch(report)
    load()
    return onEvent(load)
  }, [])
  const failed = jobs?.filter(({ error_code }) => error_code !== CANCELED)
  const groups = Map.groupBy(failed ?? [], ({ error_code }) => error_code ?? 500)
  return (
    <>
      <h1>{t.title}</h1>
      <p class="hint">{t.hint}</p>
      {!failed && <p>{texts.loading}</p>}
      {failed?.length === 0 && <p class="empty">{t.none}</p>}
      {[...groups].map(([code, group]) => (
        <Reason key={code} code={code} jobs={group} />
      ))}
      <p>
        <a href="guide/troubleshooting.html">{texts.reader.troubleshooting}</a> ·{' '}
        <a href="guide/errors.html">{t.allErrors}</a>
      </p>
    </>
  )
}

function Reason({ code, jobs }: { code: number; jobs: readonly Job[] }): JSX.Element {
  return (
    <section class="card">
      <h2>{failureReason(code)}</h2>
      <p>{failureAdvice(code)}</p>
      <ul class="plain">
        {jobs.map((job) => (
          <li key={job.id} class="version">
            <span>
              <a href={`#/${job.kind}/${job.id}`}>
                <bdi>{jobName(job)}</bdi>
              </a>{' '}
              <span class="hint">{formatDateTime(job.completed_at ?? job.created_at)}</span>
              <span class="hint block" dir="auto">
                {failureMessage(job)}
              </span>
            </span>
            {job.kind === 'pre-recorded' && hasScope('write') && (
              <TryAgain job={job} label={texts.recordings.retryJob(jobName(job))} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Returns the meaning of the `error_code` of a job. */
function failureReason(code: number): string {
  return t.reasons[code] ?? t.reasons[500]!
}

/** Returns advice for the `error_code` of a job. */
export function failureAdvice(code: number): string {
  return t.advice[code] ?? t.advice[500]!
}

/** Returns why a job failed, in the words of the server. */
export function failureMessage({ post_session_metadata }: Job): string | undefined {
  return (post_session_metadata.failure as { message?: string } | undefined)?.message
}
