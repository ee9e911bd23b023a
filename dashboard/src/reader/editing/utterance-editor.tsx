import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { beforeSignOut } from '../../api/api.ts'
import { BusyButton } from '../../components/busy-button.tsx'
import { notify } from '../../components/notices.tsx'
import { texts } from '../../texts.ts'
import { type NamedSpeaker, newSpeaker, speakerTitle } from '../speakers.ts'
import { rowKey } from './drafts.ts'
import type { Edits, ShownUtterance } from './edits.ts'

const t = texts.corrections

type EditorProps = Pick<Edits, 'apply' | 'positionOf' | 'drafts'> & {
  utterance: ShownUtterance
  voices: readonly NamedSpeaker[]
  /** The index of the word before which the cursor is placed first. */
  word: number
  /** The label of the field for screen readers. */
  time: string
  close: () => void
}

/** Corrects the words of an utterance in place: Enter saves the changes, Escape discards them. */
export function UtteranceEditor(props: EditorProps): JSX.Element {
  const { utterance, apply, positionOf, word, time } = props
  const drafts = props.drafts.rows
  const key = rowKey(utterance.source)
  const area = useRef<HTMLTextAreaElement>(null)
  const [isSaving, setSaving] = useState(false)
  const [draft] = useState(() => drafts.get(key))
  // The words that the editor opened with, even if somebody splits the utterance meanwhile.
  const [source] = useState(draft?.source ?? utterance.source)
  const [text, setText] = useState(draft?.text ?? utterance.text.trim())
  const isChanged = text !== utterance.text.trim()
  // Once, when it appears.
  useLayoutEffect(() => {
    const caret = offsetOf(utterance, word)
    area.current?.focus()
    area.current?.setSelectionRange(caret, caret)
  }, [])
  const position = positionOf(source)
  const close = () => {
    drafts.delete(key)
    props.close()
  }
  const storeOrKeep = async (...operations: Parameters<Edits['apply']>) => {
    if (await apply(...operations)) {
      drafts.delete(key)
      return true
    }
    if (isChanged) drafts.set(key, { text, source })
    // The editor is removed only after this if the sign-in has ended.
    setTimeout(() => {
      if (!area.current && drafts.has(key)) notify(t.kept, { kind: 'error' })
    })
    return false
  }
  const saveOnLeave = useSaveOnLeave(isChanged && !isSaving, () => {
    return storeOrKeep({ op: 'replace_words', ...position, text })
  })
  const store = async (...operations: Parameters<Edits['apply']>) => {
    setSaving(true)
    saveOnLeave.current = undefined
    if (await storeOrKeep(...operations)) close()
    else setSaving(false)
  }
  const cancel = () => {
    saveOnLeave.current = undefined
    close()
  }
  const save = () => {
    if (!isChanged) close()
    else void store({ op: 'replace_words', ...position, text })
  }
  return (
    <div class="editor">
      <textarea
        ref={area}
        dir="auto"
        lang={utterance.language}
        maxLength={20_000}
        aria-label={t.wordsAt(time)}
        value={text}
        readOnly={isSaving}
        onInput={(event) => {
          drafts.delete(key)
          setText(event.currentTarget.value)
        }}
        onKeyDown={(event) => {
          // Enter also confirms a character in an input method, such as one for Japanese.
          if (event.isComposing) return
          if (event.key === 'Escape') cancel()
          if (event.key !== 'Enter') return
          event.preventDefault()
          if (!isSaving) save()
        }}
      />
      <div class="row">
        <BusyButton class="main" isBusy={isSaving} onClick={save}>
          {t.save}
        </BusyButton>
        <button type="button" onClick={cancel}>
          {texts.cancel}
        </button>
        <BusyButton
          isBusy={isSaving}
          onClick={() => void store({ op: 'delete_words', ...position })}
        >
          {t.deleteWords}
        </BusyButton>
        <SplitField {...props} {...{ area, isChanged, isSaving, store }} />
      </div>
    </div>
  )
}

/**
 * Runs `save` when the component is removed with unsaved changes, for example because the user
 * follows a link or signs out; before the browser leaves the page, it asks the user. The returned
 * ref holds the function that saves, or undefined if there is nothing to save.
 */
function useSaveOnLeave(
  isUnsaved: boolean,
  save: () => Promise<unknown>,
): { current: (() => Promise<unknown>) | undefined } {
  const onLeave = useRef<(() => Promise<unknown>) | undefined>(undefined)
  onLeave.current = isUnsaved ? save : undefined
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (onLeave.current) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    const stop = beforeSignOut(async () => onLeave.current?.())
    return () => {
      removeEventListener('beforeunload', ask)
      stop()
      void onLeave.current?.()
    }
  }, [])
  return onLeave
}

type SplitProps = EditorProps & {
  area: { current: HTMLTextAreaElement | null }
  isChanged: boolean
  isSaving: boolean
  store: (...operations: Parameters<Edits['apply']>) => Promise<void>
}

/** Assigns the words after the cursor to a speaker. */
function SplitField({
  utterance,
  voices,
  positionOf,
  area,
  isChanged,
  isSaving,
  store,
}: SplitProps): JSX.Element {
  const { source } = utterance
  const split = (speaker: number) => {
    const from = sourceAt(utterance, area.current?.selectionStart ?? 0)
    void store({ op: 'set_speaker', ...positionOf({ ...source, from }), speaker })
  }
  return (
    <select
      aria-label={t.split}
      disabled={isChanged}
      // It is not disabled, which would lose the focus of the keyboard.
      aria-disabled={isSaving}
      value=""
      onChange={(event) => {
        const speaker = Number(event.currentTarget.value)
        event.currentTarget.value = ''
        if (!isSaving) split(speaker)
      }}
    >
      <option value="">{t.split}</option>
      <SpeakerOptions voices={voices} without={utterance.speaker} />
    </select>
  )
}

/** Shows the speakers to choose from, and a new one. */
export function SpeakerOptions({
  voices,
  without,
}: {
  voices: readonly NamedSpeaker[]
  without?: number | undefined
}): JSX.Element {
  const speakers = voices.filter(({ kind, number }) => kind === 'speaker' && number !== without)
  return (
    <>
      {speakers.map((voice) => (
        <option key={voice.number} value={voice.number}>
          {speakerTitle(voice)}
        </option>
      ))}
      <option value={newSpeaker(voices)}>{t.newSpeaker}</option>
    </>
  )
}

/** Returns the offset at which a word begins in the edited text. */
function offsetOf({ words, text }: ShownUtterance, word: number): number {
  const before = words.slice(0, word).map((previous) => previous.word)
  const blanks = text.length - text.trimStart().length
  const offset = before.join('').length - blanks
  const original = words[word]?.word ?? ''
  return Math.max(0, offset + original.length - original.trimStart().length)
}

/** Returns the index of the original word with which the word at or after an offset begins. */
function sourceAt(utterance: ShownUtterance, offset: number): number {
  const { words } = utterance
  for (const [i, { source }] of words.entries()) {
    if (offset <= offsetOf(utterance, i)) return source
  }
  // Within the last word: that one.
  return words.at(-1)!.source
}
