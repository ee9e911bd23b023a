import type { Config } from '../config.ts'
import type { LiveRequest } from '../live/live.ts'
import { addMissing, findMissingLive } from './creation-rules.ts'
import { inFieldOrder } from './field-order.ts'
import { toLiveParams } from './live-params.ts'
import type { liveRequest } from './schemas/live-request.ts'
import { problemsError, readFields } from './validation.ts'

/** Reads the body of a live creation: shape, bounds and conditions, all problems reported together. */
export function readLiveSubmission(
  schema: ReturnType<typeof liveRequest>,
  body: unknown,
  config: Pick<Config, 'models' | 'requests'>,
): LiveRequest {
  const { value: request, problems } = readFields(schema, body, config.requests)
  const missing = findMissingLive(request, config.requests)
  const invalid = problemsError(inFieldOrder(schema, addMissing(problems, missing)))
  if (invalid) throw invalid
  return {
    params: toLiveParams(request, config.models),
    customMetadata: request.custom_metadata ?? null,
  }
}
