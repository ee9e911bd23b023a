import type { Transcript } from '../../transcript/transcript.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import type { Params } from '../add-on.ts'
import { readMarkers } from '../redaction/read-markers.ts'
import { renewWarnings } from '../subtitles-warnings.ts'
import type { Envelope } from './envelope.ts'
import { transcriptOf } from './result-text.ts'
import type { Answered } from './run-service-add-on.ts'

/** A result as it is stored, parsed. */
export type StoredResult = Record<string, unknown> & {
  metadata?: { warnings?: string[]; usage?: Usage }
  transcription: { utterances: UtteranceView[]; sentences?: unknown[]; subtitles?: unknown[] }
}

/** What language models took for a result, in `metadata.usage`: an extension of the contract. */
type Usage = { requests: number; prompt_tokens: number; completion_tokens: number }

/** Adds what the answers of services took to the usage of a result. */
export function addUsage({ metadata }: StoredResult, answered: readonly Answered[]): void {
  const given = answered.flatMap((one) => ('answers' in one ? one.answers : []))
  const taken = given.flatMap((answer) => {
    const usage = (answer as { usage?: Partial<Usage> } | null)?.usage
    return usage ? [usage] : []
  })
  if (!metadata || taken.length === 0) return
  const sum = (name: keyof Usage) => {
    return taken.reduce((total, usage) => total + (usage[name] ?? 0), metadata.usage?.[name] ?? 0)
  }
  metadata.usage = {
    requests: sum('requests'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
  }
}

/** Returns the transcript of a result, which is redacted when the job was. */
export function storedTranscript({ transcription }: StoredResult, params: Params): Transcript {
  const stored = transcriptOf(transcription.utterances)
  return params.pii_redaction === true ? { ...stored, hidden: readMarkers(stored) } : stored
}

/**
 * Writes an answer to its place in a result (contract 4.8), and returns what that place then holds.
 */
export function putEnvelope(result: StoredResult, name: string, envelope: Envelope): unknown {
  if (name === 'subtitles') {
    const files = (envelope.results ?? []) as unknown[]
    result.transcription.subtitles = files
    // Results of earlier versions have no metadata.
    const { metadata } = result
    if (metadata?.warnings) metadata.warnings = renewWarnings(metadata.warnings, envelope)
    return files
  }
  result[name] = envelope
  if (name === 'sentences') result.transcription.sentences = [envelope]
  return envelope
}
