import type { TSchema } from 'typebox'
import type { Config } from '../../../config/config.ts'
import { KeyRequest } from '../../schemas/accounts/key.ts'
import { preRecordedRequest } from '../../schemas/jobs/pre-recorded-request.ts'
import { UploadRequest } from '../../schemas/jobs/upload.ts'
import { liveRequest } from '../../schemas/live/live-request.ts'
import {
  ClientSecretRequest,
  TranscriptionSessionRequest,
} from '../../schemas/openai/openai-realtime.ts'
import { ShareRequest } from '../../schemas/transcripts/share.ts'
import { ResendRequest } from '../../schemas/webhooks/resend-request.ts'
import { WebhookRequest } from '../../schemas/webhooks/webhook.ts'
import { toLiveParams } from '../submission/to-live-params.ts'
import { toPreRecordedParams } from '../submission/to-pre-recorded-params.ts'
import {
  addMissing,
  findContradictions,
  findLiveContradictions,
  findMissing,
  findMissingLive,
} from '../validation/cross-field-rules.ts'
import { inFieldOrder } from '../validation/field-order.ts'
import {
  type ErrorLines,
  errorLines,
  type FieldError,
  formatFieldError,
  validateFields,
  validationError,
} from '../validation/validate-fields.ts'
import { type RequestedEdits, readEditRequest } from './edit-request.ts'
import { fingerprintOf } from './fingerprint.ts'
import { parseJson } from './parse-json.ts'
import { type PostSessionMetadata, readMetadata } from './post-session-metadata.ts'
import { truncateLists } from './truncate-lists.ts'

/** The settings that determine what a body may hold. */
export type BodySettings = Pick<Config, 'models' | 'requests' | 'llm'>

/**
 * A request for a job, parsed from its body. It contains only a few short, plain values, because
 * another thread may have sent it.
 */
export type ParsedJobRequest = {
  /**
   * Errors of single fields, and missing fields. If there are any, the other properties may be
   * incomplete.
   */
  errors: ErrorLines
  /** Unknown fields that were dropped. */
  ignored: readonly string[]
  /** Known fields that have no effect. */
  withoutEffect: readonly string[]
  /** Fields that contradict each other. */
  contradictions: string[]
  /** The URL of the recording, if it is valid. */
  audioUrl: string | undefined
  /** `request_params`, with only the first entries of long lists. */
  params: Record<string, unknown>
  /** The JSON text of all parameters, as it is stored. */
  paramsText: string
  customMetadata: Record<string, unknown> | null
  /** The fingerprint of the body, if requested. */
  fingerprint: string | undefined
}

/** The outcome of reading a body, by kind. */
export type BodyOutcomes = {
  'pre-recorded': ParsedJobRequest
  live: ParsedJobRequest
  'upload-address': { audio_url: string }
  resend: { since: string; endpoint_id?: string; job_id?: string }
  'post-session-metadata': PostSessionMetadata
  edits: RequestedEdits
  share: { expires_in_s: number; edited: boolean }
  key: KeyRequest
  webhook: WebhookRequest
  'client-secret': { expires_after?: { seconds: number }; session?: object }
  'transcription-session': object
}

/** The kinds of bodies. */
export type BodyKind = keyof BodyOutcomes

/** A body to read. */
export type BodyTask<K extends BodyKind = BodyKind> = {
  kind: K
  bytes: Uint8Array
  /** Whether the fingerprint is needed; it takes as long as all other work. */
  wantsFingerprint: boolean
}

/** Reads the bytes of a body as a request; rejects with `body_unreadable` or `request_invalid`. */
export type ParseBody = <K extends BodyKind>(task: BodyTask<K>) => BodyOutcomes[K]

type BodyParser = (body: unknown, task: BodyTask) => BodyOutcomes[BodyKind]

/**
 * Creates the function that reads bodies with these settings, for both the event loop of the server
 * and the thread.
 */
export function createBodyParser(settings: BodySettings): ParseBody {
  const preRecorded = preRecordedRequest(settings)
  const live = liveRequest(settings)
  const parseWith = (schema: TSchema) => (body: unknown) => {
    const { value, errors } = validateFields(schema, body, settings.requests)
    const error = validationError(errors)
    if (error) throw error
    return value as BodyOutcomes[BodyKind]
  }
  const parsers: Record<BodyKind, BodyParser> = {
    'pre-recorded': (body, task) => {
      const { value, errors, ...named } = validateFields(preRecorded, body, settings.requests)
      const allErrors = addMissing(errors, findMissing(value, settings.requests))
      return finishJobRequest(task, body, {
        ...named,
        withoutEffect: [...named.withoutEffect, ...findUnknownLlm(value, settings)],
        errors: inFieldOrder(preRecorded, allErrors),
        contradictions: () => findContradictions(value, settings.models),
        audioUrl: errors.some(({ path }) => path[0] === 'audio_url') ? undefined : value.audio_url,
        params: () => toPreRecordedParams(value, settings.models),
        customMetadata: value.custom_metadata,
      })
    },
    live: (body, task) => {
      const { value, errors, ...named } = validateFields(live, body, settings.requests)
      const allErrors = addMissing(errors, findMissingLive(value, settings.requests))
      return finishJobRequest(task, body, {
        ...named,
        withoutEffect: [
          ...named.withoutEffect,
          ...findUnknownLlm(value.post_processing, settings).map(
            (name) => `post_processing.${name}`,
          ),
        ],
        errors: inFieldOrder(live, allErrors),
        contradictions: () => findLiveContradictions(value),
        audioUrl: undefined,
        params: () => toLiveParams(value, settings.models),
        customMetadata: value.custom_metadata,
      })
    },
    'upload-address': parseWith(UploadRequest),
    resend: parseWith(ResendRequest),
    share: parseWith(ShareRequest),
    key: parseWith(KeyRequest),
    webhook: parseWith(WebhookRequest),
    'client-secret': parseWith(ClientSecretRequest),
    'transcription-session': (body) => {
      const session = parseWith(TranscriptionSessionRequest)(body)
      // Null does not mean absent here: the client ends turns itself.
      const endsTurns = (body as { turn_detection?: unknown }).turn_detection === null
      return endsTurns ? { ...session, turn_detection: null } : session
    },
    'post-session-metadata': readMetadata,
    edits: (body) => readEditRequest(body, settings.requests),
  }
  return (task) => parsers[task.kind](parseJson(task.bytes), task) as never
}

/** Finds the field that names a language model which prompts cannot use. */
function findUnknownLlm(
  request: { audio_to_llm?: boolean; audio_to_llm_config?: { model?: string } } | undefined,
  { llm, models }: BodySettings,
): string[] {
  const name = request?.audio_to_llm ? request.audio_to_llm_config?.model : undefined
  if (name === undefined || !llm) return []
  const known = [llm.model, ...llm.allowedModels, models.defaultLlm]
  return known.includes(name) ? [] : ['audio_to_llm_config.model']
}

type ValidatedRequest = Pick<ParsedJobRequest, 'ignored' | 'withoutEffect'> & {
  errors: readonly FieldError[]
  contradictions: () => readonly FieldError[]
  audioUrl: string | undefined
  params: () => Record<string, unknown>
  customMetadata: Record<string, unknown> | undefined
}

/**
 * Builds the outcome of a request for a job. If it has errors, the parameters stay empty, because
 * they cannot be built.
 */
function finishJobRequest(
  { kind, wantsFingerprint }: BodyTask,
  body: unknown,
  validated: ValidatedRequest,
): ParsedJobRequest {
  const { errors, contradictions, params, customMetadata = null, ...rest } = validated
  const fingerprint = wantsFingerprint ? fingerprintOf(kind, body) : undefined
  const creation = { ...rest, errors: errorLines(errors), fingerprint }
  if (errors.length > 0) {
    return { ...creation, contradictions: [], params: {}, paramsText: '{}', customMetadata: null }
  }
  const allParams = params()
  return {
    ...creation,
    contradictions: contradictions().map(formatFieldError),
    params: truncateLists(allParams) as Record<string, unknown>,
    paramsText: JSON.stringify(allParams),
    customMetadata,
  }
}
