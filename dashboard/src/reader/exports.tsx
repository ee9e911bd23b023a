import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { apiAddress, type Job } from '../api/api.ts'
import { texts } from '../texts.ts'
import { audioAddress } from './playback/player.tsx'

const t = texts.reader

type ExportsProps = {
  job: Job
  /** Whether there are corrections, which exports may omit. */
  isEdited: boolean
}

/** Shows links to the transcript in every format, and to the audio. */
export function Exports({ job, isEdited }: ExportsProps): JSX.Element {
  const sound = audioAddress(job)
  const [hasEdits, setHasEdits] = useState(true)
  const transcript = `v2/${job.kind}/${job.id}/transcript?words=true&edited=${hasEdits}`
  return (
    <section class="card screen-only">
      <h2>{t.export}</h2>
      {isEdited && (
        <label class="choice">
          <input type="checkbox" checked={hasEdits} onChange={() => setHasEdits(!hasEdits)} />
          <span>{texts.corrections.inExports}</span>
        </label>
      )}
      <ul class="plain">
        {Object.entries(t.formats).map(([format, label]) => (
          <li key={format}>
            <a download href={apiAddress(`${transcript}&format=${format}`)}>
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
