import { type AddOnError, failedEnvelope } from '../../text/result/steps/envelope.ts'
import { sumUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import { roundTo } from '../../transcript/rounding.ts'
import type { AddOnRecord } from '../journal/log-records.ts'
import { type TranslatedUtterance, withLeadingSpace } from '../messages/realtime-add-ons.ts'
import { joinTexts } from './build-live-result.ts'
import type { ChannelSpan } from './speaker-lookup.ts'

/** Returns the final speaker of a span. */
type SpeakerAt = (span: ChannelSpan) => number | undefined

/** The translations into one language, each with its position and as JSON text. */
type LanguageResults = {
  language: string
  entries: { start: number; channel: number; text: string; json: string }[]
  failures: number
  error: AddOnError | null
}

/** Collects the translations that a session sent, as its result shows them. */
export class TranslationResults {
  readonly #targets: LanguageResults[]
  readonly #speakerAt: SpeakerAt
  #seconds = 0
  #usage: TokenUsage | undefined

  constructor(languages: readonly string[], speakerAt: SpeakerAt) {
    this.#targets = languages.map((language) => {
      return { language, entries: [], failures: 0, error: null }
    })
    this.#speakerAt = speakerAt
  }

  /** The tokens that language models used; undefined when none was called. */
  get usage(): TokenUsage | undefined {
    return this.#usage
  }

  /** Adds the translations that were sent for one utterance. */
  add({ results: { translation: envelope } }: AddOnRecord): void {
    if (!envelope) return
    this.#seconds += envelope.exec_time
    this.#usage = sumUsage([this.#usage, envelope.usage])
    const results = (envelope.results ?? []) as TranslatedUtterance[]
    for (const [i, target] of this.#targets.entries()) {
      const error = envelope.error ?? results[i]?.error ?? null
      if (error) {
        target.error ??= error
        target.failures++
      }
      for (const sent of results[i]?.utterances ?? []) {
        const speaker = sent.speaker === undefined ? undefined : this.#speakerAt(sent)
        const view = withLeadingSpace(speaker === undefined ? sent : { ...sent, speaker })
        const { start, channel, text } = view
        target.entries.push({ start, channel, text, json: JSON.stringify(view) })
      }
    }
  }

  /** Returns warnings about languages that lack utterances. */
  warnings(): string[] {
    return this.#targets.flatMap(({ language, entries, failures }) => {
      if (failures === 0 || entries.length === 0) return []
      const all = failures + entries.length
      return [`${failures} of ${all} utterances were not translated into ${language}`]
    })
  }

  /**
   * Returns the response as JSON text. It is a failure only if all languages failed on every
   * utterance.
   */
  async write(): Promise<string> {
    const isEmpty = this.#targets.every(({ entries }) => entries.length === 0)
    const error = isEmpty ? this.#targets.find((target) => target.error)?.error : undefined
    if (error)
      return JSON.stringify(failedEnvelope('translation', error, { seconds: this.#seconds }))
    const exec_time = roundTo(this.#seconds, 6)
    const head = { success: true, is_empty: isEmpty, exec_time, error: null }
    const results: string[] = []
    for (const target of this.#targets) results.push(await writeTarget(target))
    return `${JSON.stringify(head).slice(0, -1)},"results":[${results.join(',')}]}`
  }
}

async function writeTarget({ language, entries, error }: LanguageResults): Promise<string> {
  entries.sort((a, b) => a.start - b.start || a.channel - b.channel)
  const head = {
    error: entries.length === 0 ? error : null,
    full_transcript: await joinTexts(entries, {
      separator: ' ',
      textOf: ({ text }) => text.trim(),
    }),
    languages: [language],
  }
  const utterances = await joinTexts(entries, { separator: ',', textOf: ({ json }) => json })
  return `${JSON.stringify(head).slice(0, -1)},"utterances":[${utterances}]}`
}
