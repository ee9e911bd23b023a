import type { JSX, RefObject } from 'preact'
import { memo } from 'preact/compat'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiUtterance } from '../api.ts'
import { formatTime } from '../parts/format.ts'
import { texts } from '../texts.ts'
import { followSound } from './follow-sound.ts'
import { watchVisibility } from './visibility.ts'

const t = texts.reader

type TranscriptProps = {
  utterances: readonly ApiUtterance[]
  /** Empty where there is only one speaker and channel. */
  nameOf: (utterance: ApiUtterance) => string
  audio: RefObject<HTMLAudioElement | null>
  play: (seconds: number) => void
}

/** The words, which follow the sound and are jumped to by a click. */
export function Transcript({ utterances, nameOf, audio, play }: TranscriptProps): JSX.Element {
  const [follows, setFollows] = useState(true)
  const [showsConfidence, setShowsConfidence] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!audio.current || !list.current) return
    return followSound(audio.current, list.current, utterances, { scrolls: follows })
  }, [audio, utterances, follows])
  if (utterances.length === 0) return <p class="empty">{t.noWords}</p>
  return (
    <section aria-label={t.transcript}>
      <div class="row">
        <Toggle label={t.follow} isOn={follows} set={setFollows} />
        <Toggle label={t.confidence} isOn={showsConfidence} set={setShowsConfidence} />
      </div>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons with times do the same. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above. */}
      <div
        ref={list}
        class={showsConfidence ? 'transcript show-confidence' : 'transcript'}
        onClick={(event) => {
          const start = (event.target as HTMLElement).dataset.start
          if (start !== undefined && getSelection()?.isCollapsed) play(Number(start))
        }}
      >
        {utterances.map((utterance, i) => (
          <Utterance
            key={i}
            utterance={utterance}
            name={nameOf(utterance)}
            isSame={i > 0 && nameOf(utterances[i - 1]!) === nameOf(utterance)}
            play={play}
          />
        ))}
      </div>
    </section>
  )
}

type ToggleProps = { label: string; isOn: boolean; set: (isOn: boolean) => void }

function Toggle({ label, isOn, set }: ToggleProps): JSX.Element {
  return (
    <label class="choice">
      <input type="checkbox" checked={isOn} onChange={() => set(!isOn)} />
      <span>{label}</span>
    </label>
  )
}

type UtteranceProps = {
  utterance: ApiUtterance
  name: string
  /** Whether the utterance before it is of the same speaker. */
  isSame: boolean
  play: (seconds: number) => void
}

/** Long transcripts have tens of thousands of words: only those near the view are elements. */
const Utterance = memo(({ utterance, name, isSame, play }: UtteranceProps): JSX.Element => {
  const { start, text, words, language } = utterance
  const row = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => watchVisibility(row.current!, setNear), [])
  return (
    <div ref={row} class="utterance">
      <button
        type="button"
        class="time"
        aria-label={t.jump(formatTime(start))}
        onClick={() => play(start)}
      >
        {formatTime(start)}
      </button>
      <div>
        {name && !isSame && (
          <strong class="speaker">
            <bdi>{name}</bdi>
          </strong>
        )}
        <p dir="auto" lang={language}>
          {isNear && words.length > 0
            ? words.map(({ word, start: at, confidence }, i) => (
                <span key={i} data-start={at} class={confidenceClass(confidence)}>
                  {word}
                </span>
              ))
            : text}
        </p>
      </div>
    </div>
  )
})

function confidenceClass(confidence: number): string {
  if (confidence < 0.5) return 'unsure'
  return confidence < 0.8 ? 'less-sure' : ''
}
