import type { JSX } from 'preact'
import { useCallback, useMemo, useState } from 'preact/hooks'
import type { ApiUtterance, Job } from '../api.ts'
import { texts } from '../texts.ts'

const t = texts.reader

/** The speakers of a transcript with the names that people gave them. */
export type Speakers = {
  labels: readonly string[]
  names: Readonly<Record<string, string>>
  rename: (label: string, name: string) => void
  /** Empty where there is only one speaker and channel. */
  nameOf: (utterance: ApiUtterance) => string
}

/** Names speakers, or else channels, where there are several. The browser keeps the names. */
export function useSpeakerNames(job: Job): Speakers {
  const key = `steno.speakers.${job.id}`
  const [names, setNames] = useState<Record<string, string>>(() => readNames(key))
  const labels = useMemo(() => {
    const found = new Set(job.result?.transcription.utterances.map(labelOf))
    return found.size > 1 ? [...found].sort() : []
  }, [job])
  const rename = (label: string, name: string) => {
    const changed = { ...names, [label]: name }
    setNames(changed)
    localStorage.setItem(key, JSON.stringify(changed))
  }
  const nameOf = useCallback(
    (utterance: ApiUtterance) => {
      if (labels.length === 0) return ''
      const label = labelOf(utterance)
      return names[label] || label
    },
    [labels, names],
  )
  return { labels, names, rename, nameOf }
}

function labelOf({ speaker, channel }: ApiUtterance): string {
  return speaker === undefined ? t.channel(channel + 1) : t.speaker(speaker + 1)
}

function readNames(key: string): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, string>
  } catch {
    return {}
  }
}

export function SpeakerNames({ speakers }: { speakers: Speakers }): JSX.Element | null {
  const { labels, names, rename } = speakers
  if (labels.length === 0) return null
  return (
    <section class="card">
      <h2>{t.speakers}</h2>
      {labels.map((label) => (
        <label key={label} class="field">
          <span>{label}</span>
          <input
            type="text"
            dir="auto"
            maxLength={80}
            aria-label={t.nameOf(label)}
            value={names[label] ?? ''}
            onInput={(event) => rename(label, event.currentTarget.value)}
          />
        </label>
      ))}
      <p class="hint">{t.namesHint}</p>
    </section>
  )
}
