import type { JSX } from 'preact'
import { addressOf, type Job } from '../api.ts'
import { texts } from '../texts.ts'
import { soundOf } from './player.tsx'

const t = texts.reader

/** Links to the transcript in every format, and to the sound. */
export function Exports({ job }: { job: Job }): JSX.Element {
  const sound = soundOf(job)
  return (
    <section class="card">
      <h2>{t.export}</h2>
      <ul class="plain">
        {Object.entries(t.formats).map(([format, label]) => (
          <li key={format}>
            <a
              download
              href={addressOf(`v2/${job.kind}/${job.id}/transcript?format=${format}&words=true`)}
            >
              {label}
            </a>
          </li>
        ))}
        {sound && (
          <li>
            <a download href={sound}>
              {t.recording}
            </a>
          </li>
        )}
      </ul>
    </section>
  )
}
