import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../../texts.ts'
import { type NamedSpeaker, type Speakers, speakerTitle } from '../speakers.ts'
import type { Edits } from './edits.ts'

const t = texts.reader

type SpeakerNamesProps = { speakers: Speakers; apply: Edits['apply']; canEdit: boolean }

/** Names speakers, and joins speakers who are the same person. */
export function SpeakerNames({ speakers, apply, canEdit }: SpeakerNamesProps): JSX.Element | null {
  const { voices } = speakers
  if (voices.length === 0 || (voices.length === 1 && voices[0]!.kind === 'channel')) return null
  return (
    <section class="card screen-only">
      <h2>{t.speakers}</h2>
      {voices.map((voice) => (
        <div key={voice.label} class="voice">
          <NameField voice={voice} apply={apply} canEdit={canEdit} />
          {canEdit && voice.kind === 'speaker' && (
            <JoinField voice={voice} voices={voices} apply={apply} />
          )}
        </div>
      ))}
    </section>
  )
}

type NamedSpeakerProps = Pick<SpeakerNamesProps, 'apply'> & { voice: NamedSpeaker }

/** The name of a speaker, which is stored on Enter or when the field loses focus. */
function NameField({
  voice,
  apply,
  canEdit,
}: NamedSpeakerProps & { canEdit: boolean }): JSX.Element {
  const { kind, number, label, name } = voice
  const input = useRef<HTMLInputElement>(null)
  const sent = useRef(name)
  const show = () => {
    sent.current = name
    if (input.current) input.current.value = name
  }
  useEffect(show, [name])
  // If the user has left the page in the meantime, the page and the ref no longer contain the
  // field.
  const save = async (field: HTMLInputElement) => {
    const enteredName = field.value.trim()
    if (enteredName === sent.current) return
    sent.current = enteredName
    if (!(await apply({ op: 'name_speaker', [kind]: number, name: enteredName }))) show()
  }
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={input}
        type="text"
        dir="auto"
        maxLength={80}
        aria-label={t.nameOf(label)}
        placeholder={canEdit ? t.nameHint : ''}
        disabled={!canEdit}
        onBlur={(event) => void save(event.currentTarget)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void save(event.currentTarget)
          if (event.key === 'Escape') show()
        }}
      />
    </label>
  )
}

function JoinField({
  voice,
  voices,
  apply,
}: NamedSpeakerProps & { voices: readonly NamedSpeaker[] }): JSX.Element | null {
  const others = voices.filter((other) => other.kind === 'speaker' && other !== voice)
  if (others.length === 0) return null
  return (
    <select
      aria-label={texts.corrections.joinOf(speakerTitle(voice))}
      value=""
      onChange={(event) => {
        const into = Number(event.currentTarget.value)
        event.currentTarget.value = ''
        void apply({ op: 'join_speakers', speaker: voice.number, into })
      }}
    >
      <option value="">{texts.corrections.join}</option>
      {others.map((other) => (
        <option key={other.number} value={other.number}>
          {speakerTitle(other)}
        </option>
      ))}
    </select>
  )
}
