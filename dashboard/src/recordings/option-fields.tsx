import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { languageName } from '../components/format.ts'
import { texts } from '../texts.ts'
import {
  type ChannelMode,
  type Options,
  options,
  type SummaryType,
  wrongMetadata,
} from './options.ts'

const t = texts.options
/** How long after a change a user may still be typing. */
const TYPING_MS = 1000

type FieldsProps = {
  capabilities: ApiCapabilities | undefined
  /** The switches that the server does not support. */
  unavailable: ReadonlySet<string>
  set: (changed: Partial<Options>) => void
}

/** Shows the options that are more than a switch. */
export function OptionFields({ capabilities, unavailable, set }: FieldsProps): JSX.Element {
  const { language, speakers, vocabulary, channelMode, summaryType, switches } = options.value
  return (
    <div class="fields">
      <label for="language">{t.language}</label>
      <select
        id="language"
        value={language}
        onChange={(event) => set({ language: event.currentTarget.value })}
      >
        <option value="">{t.detect}</option>
        <Languages codes={capabilities?.recognition.languages ?? []} />
      </select>
      <label for="speakers">{t.speakers}</label>
      <input
        id="speakers"
        type="number"
        min="1"
        max="30"
        placeholder={t.speakersHint}
        disabled={!switches.includes('diarization')}
        value={speakers}
        onInput={(event) => set({ speakers: event.currentTarget.value })}
      />
      <label for="channels">{t.channels}</label>
      <select
        id="channels"
        value={channelMode}
        onChange={(event) => set({ channelMode: event.currentTarget.value as ChannelMode })}
      >
        <Names names={t.channelModes} />
      </select>
      <label for="summary">{t.summaryType}</label>
      <select
        id="summary"
        disabled={!switches.includes('summarization')}
        value={summaryType}
        onChange={(event) => set({ summaryType: event.currentTarget.value as SummaryType })}
      >
        <Names names={t.summaryTypes} />
      </select>
      {!unavailable.has('translation') && (
        <TranslationField targets={targetsOf(capabilities)} set={set} />
      )}
      {!unavailable.has('audio_to_llm') && <QuestionField set={set} />}
      <label for="vocabulary">{t.vocabulary}</label>
      <textarea
        id="vocabulary"
        rows={3}
        value={vocabulary}
        onInput={(event) => set({ vocabulary: event.currentTarget.value })}
      />
      <MetadataField set={set} />
    </div>
  )
}

/** Soon after the last change, the field says which lines are not sent. */
function MetadataField({ set }: Pick<FieldsProps, 'set'>): JSX.Element {
  const { metadata } = options.value
  const [wrong, setWrong] = useState<string[]>([])
  useEffect(() => {
    const timer = setTimeout(() => setWrong(wrongMetadata(metadata)), TYPING_MS)
    return () => clearTimeout(timer)
  }, [metadata])
  return (
    <>
      <label for="metadata">{t.metadata}</label>
      <textarea
        id="metadata"
        rows={2}
        dir="auto"
        value={metadata}
        aria-describedby="metadata-problem"
        onInput={(event) => set({ metadata: event.currentTarget.value })}
      />
      <p id="metadata-problem" class="problem" role="alert">
        {wrong.length > 0 && t.wrongMetadata(wrong.join('\n'))}
      </p>
    </>
  )
}

function TranslationField({
  targets,
  set,
}: Pick<FieldsProps, 'set'> & { targets: readonly string[] }): JSX.Element {
  return (
    <>
      <label for="translation">{t.translateTo}</label>
      <select
        id="translation"
        value={options.value.translateTo}
        onChange={(event) => set({ translateTo: event.currentTarget.value })}
      >
        <option value="">{t.noTranslation}</option>
        <Languages codes={targets} />
      </select>
    </>
  )
}

function QuestionField({ set }: Pick<FieldsProps, 'set'>): JSX.Element {
  return (
    <>
      <label for="question">{t.question}</label>
      <textarea
        id="question"
        rows={2}
        maxLength={20_000}
        placeholder={t.questionHint}
        value={options.value.question}
        onInput={(event) => set({ question: event.currentTarget.value })}
      />
    </>
  )
}

function Languages({ codes }: { codes: readonly string[] }): JSX.Element {
  const names = codes.map((code) => [code, languageName(code)] as const)
  return (
    <>
      {names
        .sort((one, other) => one[1].localeCompare(other[1]))
        .map(([code, name]) => (
          <option key={code} value={code}>
            {name}
          </option>
        ))}
    </>
  )
}

function Names({ names }: { names: Record<string, string> }): JSX.Element {
  return (
    <>
      {Object.entries(names).map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  )
}

/** Returns the languages into which the server translates, from the schema of the add-on. */
function targetsOf(capabilities: ApiCapabilities | undefined): readonly string[] {
  const translation = capabilities?.add_ons.find(({ name }) => name === 'translation')
  const schema = translation?.config_schema as {
    properties?: { target_languages?: { items?: { enum?: string[] } } }
  } | null
  return schema?.properties?.target_languages?.items?.enum ?? []
}
