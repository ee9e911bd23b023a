import type { JSX } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { notify } from '../../components/notices.tsx'
import { texts } from '../../texts.ts'
import { type NamedSpeaker, type Speakers, speakerTitle } from '../speakers.ts'
import type { Edits } from './edits.ts'

const t = texts.reader

type SpeakerNamesProps = Pick<Edits, 'apply' | 'drafts'> & { speakers: Speakers; canEdit: boolean }

/** Names speakers, and joins speakers who are the same person. */
export function SpeakerNames(props: SpeakerNamesProps): JSX.Element | null {
  const { speakers, apply, drafts, canEdit } = props
  const { voices } = speakers
  if (voices.length === 0 || (voices.length === 1 && voices[0]!.kind === 'channel')) return null
  return (
    <section class="card screen-only">
      <h2>{t.speakers}</h2>
      {voices.map((voice) => (
        <div key={voice.label} class="voice">
          <NameField {...{ voice, apply, drafts, canEdit }} />
          {canEdit && voice.kind === 'speaker' && (
            <JoinField voice={voice} voices={voices} apply={apply} />
          )}
        </div>
      ))}
    </section>
  )
}

type NamedSpeakerProps = Pick<SpeakerNamesProps, 'apply'> & { voice: NamedSpeaker }

type NameFieldProps = NamedSpeakerProps & Pick<SpeakerNamesProps, 'drafts' | 'canEdit'>

/** The name of a speaker, which is stored on Enter or when the field loses focus or is removed. */
function NameField({ voice, apply, drafts, canEdit }: NameFieldProps): JSX.Element {
  const { kind, number, label, name } = voice
  const { names } = drafts
  const key = `${kind} ${number}`
  const hint = useId()
  const input = useRef<HTMLInputElement>(null)
  const sent = useRef(name)
  const stored = useRef(name)
  stored.current = name
  // Whether it could not be stored, rather than being typed at the moment.
  const [isUnstored, setUnstored] = useState(names.has(key))
  const showsHint = isUnstored && canEdit
  const show = () => {
    sent.current = name
    if (input.current) input.current.value = names.get(key) ?? name
  }
  useLayoutEffect(show, [name])
  const forget = () => {
    names.delete(key)
    setUnstored(false)
  }
  const save = async (typed: string) => {
    const enteredName = typed.trim()
    if (enteredName === stored.current) forget()
    if (enteredName === sent.current) return
    sent.current = enteredName
    const isStored = await apply({ op: 'name_speaker', [kind]: number, name: enteredName })
    if (!isStored && sent.current === enteredName) sent.current = stored.current
    // Another name may have been typed meanwhile.
    if (names.get(key)?.trim() !== enteredName) return
    if (isStored) return forget()
    setUnstored(true)
    // The field is removed only after this if the sign-in has ended.
    setTimeout(() => {
      if (!input.current) notify(texts.corrections.kept, { kind: 'error' })
    })
  }
  // After a failure the user decides: somebody else may have corrected the transcript.
  const saveTyped = () => {
    const typed = names.get(key)
    if (typed !== undefined && !isUnstored) void save(typed)
  }
  const onLeave = useRef(saveTyped)
  onLeave.current = saveTyped
  // Not all browsers let a field lose the focus when it is removed.
  useEffect(() => () => onLeave.current(), [])
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
        aria-describedby={showsHint ? hint : undefined}
        onInput={(event) => {
          names.set(key, event.currentTarget.value)
          setUnstored(false)
        }}
        onBlur={saveTyped}
        onKeyDown={(event) => {
          if (event.key === 'Enter') void save(event.currentTarget.value)
          if (event.key !== 'Escape') return
          forget()
          show()
        }}
      />
      {showsHint && (
        <span id={hint} class="hint">
          {texts.corrections.notStored}
        </span>
      )}
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
