import type { Transcript } from '../../transcript/transcript.ts'
import { type Params, supportedUtterances } from '../add-ons/add-on.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import type { ServiceResponses } from '../result/steps/run-service-add-on.ts'
import type { TranscriptTransform } from '../transforms/transform.ts'
import { findLookAlikes } from '../words/names/look-alike-names.ts'
import {
  languages,
  makeNamesConsistent,
  type NameChange,
  respellNames,
  writeNameChanges,
} from '../words/names/make-names-consistent.ts'
import { asLlmResponse, type LlmResponse, responseError } from './responses.ts'
import type { ServiceRequest } from './service-add-on.ts'

const name = 'name_consistency'
/** Maximum groups of spellings in one request. */
const MAX_GROUPS = 100

/**
 * Gives each name one spelling: by its sound in English and, where there is a language model, by
 * its responses about spellings that look alike, in languages that write names with capitals. The
 * model never decides about other words, and never brings a spelling of its own. Nothing is asked
 * when personal data is to be redacted, because this step sees the words before that. Without an
 * answer, names are compared by sound alone.
 */
export const nameConsistency: TranscriptTransform = {
  name,
  languages,
  reports: true,
  prepare(transcript, params) {
    if (params.pii_redaction === true) return []
    const { utterances } = makeNamesConsistent(transcript).transcript
    const groups = findLookAlikes(utterances).map(({ spellings }) => spellings)
    const count = Math.ceil(groups.length / MAX_GROUPS)
    return Array.from({ length: count }, (_, i): ServiceRequest => {
      const requested = groups.slice(i * MAX_GROUPS, (i + 1) * MAX_GROUPS)
      return { service: 'language model', model: 'configured', task: 'names', groups: requested }
    })
  },
  apply(transcript, params, serviceResponses) {
    const failure = failureOf(serviceResponses)
    // With a language model, every language is supported.
    if (!serviceResponses || failure) checkLanguage(transcript, failure)
    const renamedBySound = makeNamesConsistent(transcript)
    const { transcript: changed, changes } = applyResponses(renamedBySound, serviceResponses)
    return {
      transcript: changed,
      output: { results: changesJson(changes, params), isEmpty: changes.length === 0 },
      ...(failure && {
        warnings: [`${name} compared some names by sound alone: ${failure.message}`],
      }),
    }
  },
}

function changesJson(changes: readonly NameChange[], params: Params): string {
  return writeNameChanges(changes, { secret: params.pii_redaction === true })
}

/** Returns why a model did not answer a request; undefined if it answered all. */
function failureOf(serviceResponses: ServiceResponses | undefined) {
  if (!serviceResponses) return undefined
  if ('error' in serviceResponses) return serviceResponses.error
  return serviceResponses.responses
    .map(asLlmResponse)
    .map(responseError)
    .find((error) => error)
}

function checkLanguage(transcript: Transcript, failure: ReturnType<typeof failureOf>): void {
  try {
    supportedUtterances({ name, languages }, transcript)
  } catch (error) {
    throw failure ? new AddOnFailedError(failure) : error
  }
}

type RenamedTranscript = { transcript: Transcript; changes: NameChange[] }

/** Applies the spellings that a model chose, if they were among the choices. */
function applyResponses(
  { transcript, changes }: RenamedTranscript,
  serviceResponses: ServiceResponses | undefined,
): RenamedTranscript {
  const responses =
    serviceResponses && 'responses' in serviceResponses
      ? serviceResponses.responses.map(asLlmResponse)
      : []
  const chosen = responses.flatMap(changesIn)
  if (chosen.length === 0) return { transcript, changes }
  const byLanguage = new Map<string, Map<string, string>>()
  const modelChanges: NameChange[] = []
  for (const { language, spellings } of findLookAlikes(transcript.utterances)) {
    const replacements = byLanguage.get(language) ?? new Map<string, string>()
    byLanguage.set(language, replacements)
    const counts = new Map(spellings.map(({ spelling, count }) => [spelling, count]))
    for (const { from, to } of chosen) {
      if (!counts.has(from) || !counts.has(to) || replacements.has(from)) continue
      replacements.set(from, to)
      modelChanges.push({ from, to, count: counts.get(from)! })
    }
  }
  const utterances = transcript.utterances.map((utterance) => {
    return respellNames(utterance, byLanguage.get(utterance.language) ?? new Map())
  })
  return { transcript: { ...transcript, utterances }, changes: joinChanges(changes, modelChanges) }
}

/** Returns the changes of a response of unknown form. */
function changesIn(response: LlmResponse): { from: string; to: string }[] {
  const { changes } = response as { changes?: unknown }
  const all = (Array.isArray(changes) ? changes : []) as ({ from?: unknown; to?: unknown } | null)[]
  return all.flatMap((item) => {
    const { from, to } = item ?? {}
    return typeof from === 'string' && typeof to === 'string' ? { from, to } : []
  })
}

/**
 * Joins two lists of changes. A spelling that was replaced twice is reported once, with its last
 * spelling.
 */
function joinChanges(first: readonly NameChange[], second: readonly NameChange[]): NameChange[] {
  const joined = first.map((change) => {
    return { ...change, to: second.find(({ from }) => from === change.to)?.to ?? change.to }
  })
  const rest = second.map((change) => {
    const before = first.filter(({ to }) => to === change.from)
    return { ...change, count: before.reduce((sum, { count }) => sum - count, change.count) }
  })
  return [...joined, ...rest]
}
