import type { JSX, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Job } from '../api/api.ts'
import { languageName } from '../components/format.ts'
import { texts } from '../texts.ts'
import { translatedLanguages, useTranslation } from './add-ons/translations.ts'
import { rowKey } from './editing/drafts.ts'
import type { Edits } from './editing/edits.ts'
import { followAudio } from './playback/follow-audio.ts'
import type { Speakers } from './speakers.ts'
import { Utterance } from './utterance.tsx'

const t = texts.reader

type TranscriptProps = {
  edits: Edits
  speakers: Speakers
  canEdit: boolean
  audio: RefObject<HTMLAudioElement | null>
  play: (seconds: number) => void
  /** The job whose translations can be shown beside the words; none on shared pages. */
  job?: Job
}

/** Shows the words. They follow the audio; a click plays or corrects a word. */
export function Transcript(props: TranscriptProps): JSX.Element {
  const { edits, speakers, canEdit, audio, play, job } = props
  const { utterances, apply, positionOf, drafts } = edits
  const { speakerName } = speakers
  const [follows, setFollows] = useState(true)
  const [showsConfidence, setShowsConfidence] = useState(false)
  const [mayCorrect, setCorrecting] = useState(drafts.rows.size > 0)
  const isCorrecting = canEdit && mayCorrect
  const [language, setLanguage] = useState('')
  const translate = useTranslation(job, language)
  const isRedacted = job?.request_params?.pii_redaction === true
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (!audio.current || !list.current) return
    return followAudio(audio.current, list.current, utterances, { scrolls: follows })
  }, [audio, utterances, follows])
  if (utterances.length === 0 && (edits.state?.version ?? 0) === 0)
    return <p class="empty">{t.noWords}</p>
  return (
    <section aria-label={t.transcript}>
      <div class="row screen-only">
        <Toggle label={t.follow} isOn={follows} set={setFollows} />
        <Toggle label={t.confidence} isOn={showsConfidence} set={setShowsConfidence} />
        {canEdit && (
          <Toggle label={texts.corrections.mode} isOn={isCorrecting} set={setCorrecting} />
        )}
        {job && <TranslationField job={job} language={language} set={setLanguage} />}
      </div>
      {isRedacted && <p class="hint">{t.redacted}</p>}
      {isCorrecting && <p class="hint screen-only">{texts.corrections.hint}</p>}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons with times do the same. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above. */}
      <div
        ref={list}
        class={showsConfidence ? 'transcript show-confidence' : 'transcript'}
        onClick={(event) => {
          const start = (event.target as HTMLElement).closest<HTMLElement>('[data-start]')?.dataset
            .start
          if (start !== undefined && getSelection()?.isCollapsed) play(Number(start))
        }}
      >
        {utterances.map((utterance, i) => (
          <Utterance
            key={rowKey(utterance.source)}
            utterance={utterance}
            isSame={i > 0 && speakerName(utterances[i - 1]!) === speakerName(utterance)}
            translation={translate?.(utterance)}
            translationLanguage={translate && language}
            {...{ speakers, isCorrecting, isRedacted, play, apply, positionOf, drafts }}
          />
        ))}
      </div>
    </section>
  )
}

type TranslationProps = { job: Job; language: string; set: (language: string) => void }

/** Chooses the translation beside the words, if there are any. */
function TranslationField({ job, language, set }: TranslationProps): JSX.Element | null {
  const languages = translatedLanguages(job)
  if (languages.length === 0) return null
  return (
    <label class="choice">
      {t.translationBeside}
      <select value={language} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">{t.noTranslation}</option>
        {languages.map((code) => (
          <option key={code} value={code}>
            {languageName(code)}
          </option>
        ))}
      </select>
    </label>
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
