import type { App } from '../app.ts'
import { AppError } from '../errors.ts'
import type { SubmitRequest } from '../jobs/jobs.ts'
import { findFile } from '../storage/files.ts'
import { findContradictions, findMissing } from './creation-rules.ts'
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
  const fields = Object.keys(schema.properties)

  return async (body: unknown, { account, bases }: Submitter): Promise<SubmitRequest> => {
    const { value: request, problems } = readFields(schema, body, config.requests)
    const audio = problems.some(({ path }) => path[0] === 'audio_url')
      ? undefined
      : await findAudio(request.audio_url, { account, bases })
    if (audio?.problem) problems.push(audio.problem)
    const noted = new Set(problems.map(({ path }) => path.join('.')))
    const missing = findMissing(request, config.requests)
    problems.push(...missing.filter(({ path }) => !noted.has(path.join('.'))))
    const invalid = problemsError(inFieldOrder(problems))
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

  function inFieldOrder(problems: readonly Problem[]): Problem[] {
    const places = new Map(fields.map((field, i) => [field, i]))
    const place = ({ path }: Problem) => places.get(path[0]!) ?? fields.length
    return problems.toSorted((a, b) => place(a) - place(b))
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
