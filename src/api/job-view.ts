import type { Job } from '../storage/jobs.ts'
import type { JobView } from './schemas/job.ts'

/** A job in the words of the contract (3.1): every key there, null while it has no value. */
export function toJobView(job: Job): JobView {
  const { file, customMetadata } = job
  return {
    id: job.id,
    request_id: `G-${job.id.slice(0, 8)}`,
    version: 2,
    status: job.status,
    created_at: toDateTime(job.createdAt),
    completed_at: job.completedAt === null ? null : toDateTime(job.completedAt),
    ...(customMetadata && { custom_metadata: customMetadata }),
    error_code: job.errorCode,
    post_session_metadata: job.postSessionMetadata,
    kind: job.kind,
    file: file && {
      id: file.id,
      filename: file.filename,
      source: file.source,
      audio_duration: file.duration,
      number_of_channels: file.channels,
    },
    request_params: job.requestParams,
    result: job.result,
  }
}

function toDateTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
