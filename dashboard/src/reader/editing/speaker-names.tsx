import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { texts } from '../../texts.ts'
import { type NamedSpeaker, type Speakers, titleOf } from '../speakers.ts'
import type { Edits } from './edits.ts'

const t = texts.reader

type SpeakerNamesProps = { speakers: Speakers; apply: Edits['apply']; canEdit: boolean }

/** Names speakers and joins those who are one person. */
export function SpeakerNames({ speakers, apply, canEdit }: SpeakerNamesProps): JSX.Element | null {
  const { voices } = speakers
  if (voices.length === 0 || (voices.length === 1 && voices[0]!.kind === 'channel')) return null
  return (
    <section class="card">
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

/** Stored when the field is left, or by Enter. */
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
  // The page may be left meanwhile: then the field is gone from it, and from the ref, already.
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
  const others = voices.filter((one) => one.kind === 'speaker' && one !== voice)
  if (others.length === 0) return null
  return (
    <select
      aria-label={texts.corrections.joinOf(titleOf(voice))}
      value=""
      onChange={(event) => {
        const into = Number(event.currentTarget.value)
        event.currentTarget.value = ''
        void apply({ op: 'join_speakers', speaker: voice.number, into })
      }}
    >
      <option value="">{texts.corrections.join}</option>
      {others.map((one) => (
        <option key={one.number} value={one.number}>
          {titleOf(one)}
        </option>
      ))}
    </select>
  )
}
