import type { JSX } from 'preact'
import { texts } from '../texts.ts'

const t = texts.recordings

/** The filter of recordings and sessions; an empty field matches all. */
export type JobFilter = { kind: string; from: string; until: string; metadata: string }

/** The filter that matches all recordings and sessions. */
export const anyJob: JobFilter = { kind: '', from: '', until: '', metadata: '' }

/** Adds a filter to the query of a list or a search. */
export function addJobFilter(query: URLSearchParams, filter: JobFilter): void {
  const { kind, from, until, metadata } = filter
  if (kind) query.set('kind', kind)
  // Days begin at midnight in the time zone of the browser, not in that of the server.
  if (isDay(from)) {
    query.set('after_date', new Date(new Date(`${from}T00:00`).getTime() - 1).toISOString())
  }
  if (isDay(until)) query.set('before_date', new Date(`${until}T24:00`).toISOString())
  const [, name, value] = /^([^=]+)=(.*)$/.exec(metadata) ?? []
  if (name) query.set(`custom_metadata[${name.trim()}]`, value!.trim())
}

/** Returns whether a text is a day; the address of the page may contain any text. */
function isDay(text: string): boolean {
  return !Number.isNaN(new Date(`${text}T00:00`).getTime())
}

type FieldsProps = { filter: JobFilter; set: (changed: Partial<JobFilter>) => void }

/** The fields of a filter. */
export function JobFilterFields({ filter, set }: FieldsProps): JSX.Element {
  const { kind, from, until, metadata } = filter
  return (
    <>
      <label>
        {t.kinds}
        <select
          name="kind"
          value={kind}
          onChange={(event) => set({ kind: event.currentTarget.value })}
        >
          <option value="">{t.all}</option>
          {Object.entries(t.kind).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t.from}
        <input
          type="date"
          name="from"
          value={from}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
      </label>
      <label>
        {t.until}
        <input
          type="date"
          name="until"
          value={until}
          onChange={(event) => set({ until: event.currentTarget.value })}
        />
      </label>
      <label>
        {t.metadata}
        <input
          type="text"
          name="metadata"
          placeholder={t.metadataHint}
          pattern="[^=]+=.*"
          title={t.metadataHint}
          value={metadata}
          onChange={({ currentTarget }) => {
            if (currentTarget.reportValidity()) set({ metadata: currentTarget.value })
          }}
        />
      </label>
    </>
  )
}
