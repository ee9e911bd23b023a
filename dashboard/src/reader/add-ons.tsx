import type { JSX } from 'preact'
import type {
  ApiAddOnError,
  ApiChapter,
  ApiNamedEntity,
  ApiSentenceSentiment,
} from '../../../src/cli/server/api-types.ts'
import { type Job, may, request } from '../api.ts'
import { formatTime, languageName } from '../parts/format.ts'
import { report } from '../parts/notices.tsx'
import { texts } from '../texts.ts'
import { SentimentChart } from './sentiment-chart.tsx'

const t = texts.reader

type AddOnsProps = { job: Job; play: (seconds: number) => void; reload: () => Promise<void> }

/** What was computed from the transcript, as far as it was asked for. */
export function AddOns({ job, play, reload }: AddOnsProps): JSX.Element {
  const result = job.result!
  const { summarization, named_entity_recognition, sentiment_analysis, translation } = result
  const chapters = 'chapters' in result ? result.chapters : undefined
  const prompts = 'audio_to_llm' in result ? result.audio_to_llm : undefined
  const warnings = result.metadata.warnings ?? []
  const failure = (name: string, title: string, error: ApiAddOnError | null) =>
    error && <AddOnFailure {...{ job, name, title, error, reload }} />
  return (
    <>
      {warnings.length > 0 && (
        <section class="card">
          <h2>{t.warnings}</h2>
          {warnings.map((warning) => (
            <p key={warning} dir="auto">
              {warning}
            </p>
          ))}
        </section>
      )}
      {summarization && (
        <section class="card">
          <h2>{t.summary}</h2>
          {failure('summarization', t.summary, summarization.error)}
          <p class="lines" dir="auto">
            {summarization.results}
          </p>
        </section>
      )}
      {chapters && (
        <section class="card">
          <h2>{t.chapters}</h2>
          {failure('chapters', t.chapters, chapters.error)}
          <Chapters chapters={chapters.results ?? []} play={play} />
        </section>
      )}
      {named_entity_recognition && (
        <section class="card">
          <h2>{t.entities}</h2>
          {failure('named_entity_recognition', t.entities, named_entity_recognition.error)}
          <Entities entities={named_entity_recognition.results ?? []} play={play} />
        </section>
      )}
      {sentiment_analysis && (
        <section class="card">
          <h2>{t.sentiment}</h2>
          {failure('sentiment_analysis', t.sentiment, sentiment_analysis.error)}
          <SentimentChart
            sentences={parseSentences(sentiment_analysis.results)}
            seconds={result.metadata.audio_duration}
            play={play}
          />
          <Sentiments sentences={parseSentences(sentiment_analysis.results)} play={play} />
        </section>
      )}
      {prompts && (
        <section class="card">
          <h2>{t.answers}</h2>
          {failure('audio_to_llm', t.answers, prompts.error)}
          {prompts.results?.map(({ results }, i) => (
            <div key={i}>
              <h3 dir="auto">{results?.prompt}</h3>
              <p class="lines" dir="auto">
                {results?.response}
              </p>
            </div>
          ))}
        </section>
      )}
      {translation && (
        <section class="card">
          <h2>{t.translations}</h2>
          {failure('translation', t.translations, translation.error)}
          {translation.results?.map(({ languages, full_transcript }) => (
            <details key={languages.join()}>
              <summary>{languages.map(languageName).join(', ')}</summary>
              <p class="lines" dir="auto" lang={languages[0]}>
                {full_transcript}
              </p>
            </details>
          ))}
        </section>
      )}
    </>
  )
}

type FailureProps = Pick<AddOnsProps, 'job' | 'reload'> & {
  name: string
  title: string
  error: ApiAddOnError
}

function AddOnFailure({ job, name, title, error, reload }: FailureProps): JSX.Element {
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
      {job.kind === 'pre-recorded' && may('write') && (
        <button type="button" onClick={() => void retry()}>
          {texts.retry}
        </button>
      )}
    </div>
  )
}

type PlayProps = { play: (seconds: number) => void }

/** Headlines with their times; each opens to its summary. */
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

/** Sentences whose sentiment is not neutral, with their times. */
function Sentiments({ sentences, play }: SentimentsProps): JSX.Element {
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
