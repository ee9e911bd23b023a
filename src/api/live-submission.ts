import type { Config } from '../config.ts'
import { AppError } from '../errors.ts'
import type { LiveRequest } from '../live/live.ts'
import { addMissing, findLiveContradictions, findMissingLive } from './creation-rules.ts'
import { inFieldOrder } from './field-order.ts'
import { toLiveParams } from './live-params.ts'
import type { liveRequest } from './schemas/live-request.ts'
import { formatProblem, problemsError, readFields } from './validation.ts'

/** Reads the body of a live creation: shape, bounds and conditions, all reported together; then contradictions. */
export function readLiveSubmission(
  schema: ReturnType<typeof liveRequest>,
  body: unknown,
  config: Pick<Config, 'models' | 'requests'>,
): LiveRequest {
  const { value: request, problems } = readFields(schema, body, config.requests)
  const missing = findMissingLive(request, config.requests)
  const invalid = problemsError(inFieldOrder(schema, addMissing(problems, missing)))
  if (invalid) throw invalid
  const contradictions = findLiveContradictions(request).map(formatProblem)
  if (contradictions.length > 0) {
    const detail = contradictions.join('; ')
    throw new AppError('request_contradictory', detail, { validationErrors: contradictions })
  }
  return {
    params: toLiveParams(request, config.models),
    customMetadata: request.custom_metadata ?? null,
  }
}
