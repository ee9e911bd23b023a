import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { SubmitRequest } from '../jobs/jobs.ts'
import { findFile } from '../storage/files.ts'
import { addMissing, findContradictions, findMissing } from './creation-rules.ts'
import { inFieldOrder } from './field-order.ts'
import { toRequestParams } from './request-params.ts'
import type { preRecordedRequest } from './schemas/pre-recorded-request.ts'
import { fileIdOf, uploadIdIn } from './urls.ts'
import { formatProblem, type Problem, problemsError, readFields } from './validation.ts'

/** Who asks, and under which addresses. */
export type Submitter = {
  account: string
  /** Addresses under which uploads of this server may be named. */
  bases: readonly string[]
}

/**
 * Reads the body of a creation: shape and bounds, then conditions, all reported together; then
 * contradictions.
 */
export function createSubmissionReader(
  { config, storage }: Pick<App, 'config' | 'storage'>,
  schema: ReturnType<typeof preRecordedRequest>,
) {
  return async (body: unknown, { account, bases }: Submitter): Promise<SubmitRequest> => {
    const { value: request, problems } = readFields(schema, body, config.requests)
    const audio = problems.some(({ path }) => path[0] === 'audio_url')
      ? undefined
      : await findAudio(request.audio_url, { account, bases })
    if (audio?.problem) problems.push(audio.problem)
    const missing = findMissing(request, config.requests)
    const invalid = problemsError(inFieldOrder(schema, addMissing(problems, missing)))
    if (invalid) throw invalid

    const contradictions = findContradictions(request, config.models).map(formatProblem)
    if (contradictions.length > 0) {
      const detail = contradictions.join('; ')
      throw new AppError('request_contradictory', detail, { validationErrors: contradictions })
    }
    return {
      params: toRequestParams(request, config.models),
      customMetadata: request.custom_metadata ?? null,
      fileId: audio?.fileId ?? null,
      source: audio?.fileId ? null : request.audio_url,
    }
  }

  async function findAudio(
    audioUrl: string,
    { account, bases }: Submitter,
  ): Promise<{ fileId?: string; problem?: Problem }> {
    const id = fileIdOf(audioUrl, bases)
    const fileId = id ?? uploadIdIn(audioUrl)
    if (fileId && (await findFile(storage.db, { id: fileId, account }))) return { fileId }
    if (id === undefined) return {}
    const rule = 'must name an uploaded file that exists'
    return { problem: { path: ['audio_url'], rule } }
  }
}
