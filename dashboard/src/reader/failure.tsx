import type { JSX } from 'preact'
import { hasScope, type Job } from '../api/api.ts'
import { formatDateTime } from '../components/format.ts'
import { TryAgain } from '../components/try-again.tsx'
import { failureAdvice, failureMessage } from '../recordings/failures-page.tsx'
import { texts } from '../texts.ts'

const t = texts.reader

/** Shows why a job failed, as the server states it, with its meaning and advice. */
export function Failure({ job }: { job: Job }): JSX.Element {
  const { id, error_code, completed_at } = job
  const isCanceled = error_code === 499
  return (
    <section class="card" role="alert">
      <h2>{isCanceled ? texts.recordings.canceled : t.failed}</h2>
      <p class="problem" dir="auto">
        {failureMessage(job) ?? texts.errors.unknown}
      </p>
      <h3>{t.whatToDo}</h3>
      <p>{failureAdvice(error_code ?? 500)}</p>
      {job.kind === 'pre-recorded' && hasScope('write') && <TryAgain job={job} isMain />}
      <p class="hint">
        {completed_at && `${t.failedAt(formatDateTime(completed_at))} · `}
        {t.jobId}: <code>{id}</code> · <a href="#/failures">{texts.failures.title}</a> ·{' '}
        <a href="guide/troubleshooting.html">{t.troubleshooting}</a>
      </p>
    </section>
  )
}
