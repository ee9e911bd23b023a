import type { JSX, RenderableProps } from 'preact'
import type {
  ApiAddOnError,
  ApiChapter,
  ApiNamedEntity,
  ApiPromptResult,
  ApiSentenceSentiment,
  ApiTranslation,
} from '../../../../src/cli/client/api-types.ts'
import { hasScope, type Job, request } from '../../api/api.ts'
import { formatTime, languageName } from '../../components/format.ts'
import { report } from '../../components/notices.tsx'
import { texts } from '../../texts.ts'
import { SentimentChart } from './sentiment-chart.tsx'

const t = texts.reader

type AddOnsProps = { job: Job; play: (seconds: number) => void; reload: () => Promise<void> }

/** Shows the results of the requested add-ons. */
export function AddOns({ job, play, reload }: AddOnsProps): JSX.Element {
  const result = job.result!
  const { summarization, named_entity_recognition, sentiment_analysis, translation } = result
  const chapters = 'chapters' in result ? result.chapters : undefined
  const prompts = 'audio_to_llm' in result ? result.audio_to_llm : undefined
  const warnings = result.metadata.warnings ?? []
  const section = { job, reload }
  return (
    <>
      {warnings.length > 0 && <Warnings warnings={warnings} />}
      {summarization && (
        <AddOnSection
          {...section}
          name="summarization"
          title={t.summary}
          error={summarization.error}
        >
          <p class="lines" dir="auto">
            {summarization.results}
          </p>
        </AddOnSection>
      )}
      {chapters && (
        <AddOnSection {...section} name="chapters" title={t.chapters} error={chapters.error}>
          <Chapters chapters={chapters.results ?? []} play={play} />
        </AddOnSection>
      )}
      {named_entity_recognition && (
        <AddOnSection
          {...section}
          name="named_entity_recognition"
          title={t.entities}
          error={named_entity_recognition.error}
        >
          <Entities entities={named_entity_recognition.results ?? []} play={play} />
        </AddOnSection>
      )}
      {sentiment_analysis && (
        <AddOnSection
          {...section}
          name="sentiment_analysis"
          title={t.sentiment}
          error={sentiment_analysis.error}
        >
          <Sentiments
            sentences={parseSentences(sentiment_analysis.results)}
            seconds={result.metadata.audio_duration}
            play={play}
          />
        </AddOnSection>
      )}
      {prompts && (
        <AddOnSection {...section} name="audio_to_llm" title={t.answers} error={prompts.error}>
          <Answers answers={prompts.results} />
        </AddOnSection>
      )}
      {translation && (
        <AddOnSection
          {...section}
          name="translation"
          title={t.translations}
          error={translation.error}
        >
          <Translations translations={translation.results} />
        </AddOnSection>
      )}
    </>
  )
}

type AddOnSectionProps = FailureProps & { error: ApiAddOnError | null }

/** Shows the section of one add-on. */
function AddOnSection({ children, ...addOn }: RenderableProps<AddOnSectionProps>): JSX.Element {
  const { title, error } = addOn
  return (
    <section class="card">
      <h2>{title}</h2>
      {error && <AddOnFailure {...addOn} error={error} />}
      {children}
    </section>
  )
}

function Warnings({ warnings }: { warnings: readonly string[] }): JSX.Element {
  return (
    <section class="card">
      <h2>{t.warnings}</h2>
      {warnings.map((warning) => (
        <p key={warning} dir="auto">
          {warning}
        </p>
      ))}
    </section>
  )
}

function Answers({ answers }: { answers: ApiPromptResult[] | null }): JSX.Element {
  return (
    <>
      {answers?.map(({ results }, i) => (
        <div key={i}>
          <h3 dir="auto">{results?.prompt}</h3>
          <p class="lines" dir="auto">
            {results?.response}
          </p>
        </div>
      ))}
    </>
  )
}

function Translations({ translations }: { translations: ApiTranslation[] | null }): JSX.Element {
  return (
    <>
      {translations?.map(({ languages, full_transcript }) => (
        <details key={languages.join()}>
          <summary>{languages.map(languageName).join(', ')}</summary>
          <p class="lines" dir="auto" lang={languages[0]}>
            {full_transcript}
          </p>
        </details>
      ))}
    </>
  )
}

type FailureProps = Pick<AddOnsProps, 'job' | 'reload'> & { name: string; title: string }

function AddOnFailure({
  job,
  name,
  title,
  error,
  reload,
}: FailureProps & { error: ApiAddOnError }): JSX.Element {
  const retry = () =>
    request(`v2/${job.kind}/${job.id}/addons/${name}/retry`, { method: 'POST' }).then(
      reload,
      report,
    )
  return (
    <div class="problem" role="alert">
      <p dir="auto">
        {t.addOnFailed(title)}: {error.message}
      </p>
      {job.kind === 'pre-recorded' && hasScope('write') && (
        <button type="button" onClick={() => void retry()}>
          {texts.retry}
        </button>
      )}
    </div>
  )
}

type PlayProps = { play: (seconds: number) => void }

/** Shows the headlines of chapters with their times; each opens its summary. */
function Chapters({ chapters, play }: PlayProps & { chapters: ApiChapter[] }): JSX.Element {
  return (
    <ol class="plain">
      {chapters.map(({ headline, summary, start }) => (
        <li key={start}>
          <button
            type="button"
            class="time"
            aria-label={t.jump(formatTime(start))}
            onClick={() => play(start)}
          >
            {formatTime(start)}
          </button>
          <details>
            <summary dir="auto">{headline}</summary>
            <p dir="auto">{summary}</p>
          </details>
        </li>
      ))}
    </ol>
  )
}

const entityTypes = texts.options.fields.pii_redaction?.entity_types?.values ?? {}

function Entities({ entities, play }: PlayProps & { entities: ApiNamedEntity[] }): JSX.Element {
  return (
    <p class="chips">
      {entities.map(({ text, entity_type, start }) => (
        <button
          type="button"
          key={`${start} ${text}`}
          class="chip"
          title={`${entityTypes[entity_type] ?? entity_type}, ${formatTime(start)}`}
          onClick={() => play(start)}
        >
          <bdi>{text}</bdi>
        </button>
      ))}
    </p>
  )
}

type SentimentsProps = PlayProps & { sentences: ApiSentenceSentiment[] }

function Sentiments({ seconds, ...shown }: SentimentsProps & { seconds: number }): JSX.Element {
  return (
    <>
      <SentimentChart {...shown} seconds={seconds} />
      <FeltSentences {...shown} />
    </>
  )
}

/** Shows the sentences whose sentiment is not neutral, with their times. */
function FeltSentences({ sentences, play }: SentimentsProps): JSX.Element {
  const felt = sentences.filter(
    ({ sentiment }) => sentiment !== 'neutral' && sentiment !== 'unknown',
  )
  if (felt.length === 0) return <p>{t.sentiments.neutral}</p>
  return (
    <ul class="plain scroll">
      {felt.map(({ text, sentiment, start }) => (
        <li key={`${start} ${text}`} class={`sentiment ${sentiment}`}>
          <button
            type="button"
            class="time"
            aria-label={t.jump(formatTime(start))}
            onClick={() => play(start)}
          >
            {formatTime(start)}
          </button>{' '}
          <span class="hint">{t.sentiments[sentiment]}</span> <bdi>{text}</bdi>
        </li>
      ))}
    </ul>
  )
}

function parseSentences(results: string | ApiSentenceSentiment[] | null): ApiSentenceSentiment[] {
  if (typeof results !== 'string') return results ?? []
  try {
    return JSON.parse(results) as ApiSentenceSentiment[]
  } catch {
    return []
  }
}
