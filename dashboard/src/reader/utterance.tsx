import type { JSX } from 'preact'
import { memo } from 'preact/compat'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatTime } from '../components/format.ts'
import { texts } from '../texts.ts'
import { rowKey } from './editing/drafts.ts'
import type { Edits, ShownUtterance } from './editing/edits.ts'
import { SpeakerOptions, UtteranceEditor } from './editing/utterance-editor.tsx'
import { type Speakers, speakerTitle } from './speakers.ts'
import { watchVisibility } from './visibility.ts'

const t = texts.reader

type UtteranceProps = Pick<Edits, 'apply' | 'positionOf' | 'drafts'> & {
  utterance: ShownUtterance
  speakers: Speakers
  /** Whether the previous utterance has the same speaker. */
  isSame: boolean
  /** Whether a click corrects a word instead of playing it. */
  isCorrecting: boolean
  /** Whether some words may be redacted. */
  isRedacted: boolean
  /** Its translation, if one is shown. */
  translation: string | undefined
  translationLanguage: string | undefined
  play: (seconds: number) => void
}

/**
 * Only words near the view are elements, because long transcripts have tens of thousands of words.
 */
export const Utterance = memo((props: UtteranceProps): JSX.Element => {
  const { utterance, speakers, isSame, isCorrecting, isRedacted, play } = props
  const { translation, translationLanguage, drafts } = props
  const time = formatTime(utterance.start)
  const row = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => watchVisibility(row.current!, setNear), [])
  const [word, setWord] = useState(drafts.rows.has(rowKey(utterance.source)) ? 0 : undefined)
  const opener = useRef<HTMLButtonElement>(null)
  const close = () => {
    setWord(undefined)
    // The button is there again after this.
    setTimeout(() => opener.current?.focus())
  }
  const name = speakers.speakerName(utterance)
  const isEditing = isCorrecting && word !== undefined
  return (
    <div ref={row} class={translationLanguage ? 'utterance with-translation' : 'utterance'}>
      <button
        type="button"
        class="time"
        aria-label={t.jump(time)}
        onClick={() => play(utterance.start)}
      >
        {time}
      </button>
      <div>
        {isCorrecting && isNear && !isEditing ? (
          <div class="tools">
            <SpeakerSelect {...props} time={time} />
            <button
              ref={opener}
              type="button"
              aria-label={texts.corrections.correctAt(time)}
              onClick={() => setWord(0)}
            >
              {texts.corrections.correct}
            </button>
          </div>
        ) : (
          name &&
          (!isSame || isEditing) && (
            <strong class="speaker">
              <bdi>{name}</bdi>
            </strong>
          )
        )}
        {isEditing ? (
          <UtteranceEditor {...{ ...props, voices: speakers.voices, word, time, close }} />
        ) : (
          <Words {...{ utterance, isNear, isRedacted, open: isCorrecting ? setWord : undefined }} />
        )}
      </div>
      {translationLanguage && (
        <p class="translation" dir="auto" lang={translationLanguage}>
          {translation}
        </p>
      )}
    </div>
  )
})

type WordsProps = {
  utterance: ShownUtterance
  isNear: boolean
  isRedacted: boolean
  /** Opens the editor at a word. */
  open: ((word: number) => void) | undefined
}

function Words({ utterance, isNear, isRedacted, open }: WordsProps): JSX.Element {
  const { text, words, language } = utterance
  const click = (event: MouseEvent) => {
    const index = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index
    if (!open || index === undefined || !getSelection()?.isCollapsed) return
    event.stopPropagation()
    open(Number(index))
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button above does the same.
    <p dir="auto" lang={language} onClick={click}>
      {isNear && words.length > 0
        ? words.map(({ word, start, confidence, edited }, i) => (
            <span
              key={i}
              data-start={start}
              data-index={i}
              class={edited ? undefined : confidenceClass(confidence)}
            >
              {markedWord(word, { isEdited: edited === true, isRedacted })}
            </span>
          ))
        : text}
    </p>
  )
}

/** The text that redaction leaves in place of a word: `[NAME_1]` or `#####`. */
const REDACTED = /\[[A-Z_]+_\d+\]|#{2,}/

function markedWord(
  word: string,
  { isEdited, isRedacted }: { isEdited: boolean; isRedacted: boolean },
): string | JSX.Element {
  if (isEdited) return <MarkedWord word={word} name="edited" title={texts.corrections.corrected} />
  if (isRedacted && REDACTED.test(word)) {
    return <MarkedWord word={word} name="redacted" title={t.redactedWord} />
  }
  return word
}

type MarkedWordProps = { word: string; name: string; title: string }

/** Marks a word, but not the space before it. */
function MarkedWord({ word, name, title }: MarkedWordProps): JSX.Element {
  const trimmed = word.trimStart()
  return (
    <>
      {word.slice(0, word.length - trimmed.length)}
      <span class={name} title={title}>
        {trimmed}
      </span>
    </>
  )
}

/** Shows who speaks an utterance, and lets the user choose another speaker. */
function SpeakerSelect({
  utterance,
  speakers,
  apply,
  positionOf,
  time,
}: UtteranceProps & { time: string }): JSX.Element {
  const { speaker, source } = utterance
  const { voices } = speakers
  const channel = voices.find(({ kind, number }) => {
    return kind === 'channel' && number === utterance.channel
  })
  return (
    <select
      aria-label={texts.corrections.speakerAt(time)}
      value={speaker ?? ''}
      onChange={(event) => {
        const chosenSpeaker = Number(event.currentTarget.value)
        event.currentTarget.value = String(speaker ?? '')
        void apply({ op: 'set_speaker', ...positionOf(source), speaker: chosenSpeaker })
      }}
    >
      {speaker === undefined && (
        <option value="">{channel ? speakerTitle(channel) : texts.corrections.noSpeaker}</option>
      )}
      <SpeakerOptions voices={voices} />
    </select>
  )
}

function confidenceClass(confidence: number): string {
  if (confidence < 0.5) return 'unsure'
  return confidence < 0.8 ? 'less-sure' : ''
}
