import type { ChannelPcm } from '../../asr/speech-engine.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import type {
  ServiceRequests,
  ServiceResponses,
} from '../../text/result/steps/run-service-add-on.ts'
import type { ResultText } from '../../text/result/threads/result-task.ts'
import { responseUsage, sumUsage, type TokenUsage } from '../../text/result/token-usage.ts'
import type { TranscriptResultOptions } from '../../text/result/transcript-result.ts'
import type { AttemptMetrics } from '../queue/attempt-metrics.ts'
import type { JobSlot } from '../queue/job-slots.ts'
import { callServices } from './call-services.ts'
import type { DiarizationResult } from './diarize-recording.ts'
import type { PipelineDeps, Step } from './pipeline-deps.ts'

type BuildContext = { channels: readonly ChannelPcm[]; slot: JobSlot; metrics: AttemptMetrics }

type BuildOptions = Step &
  BuildContext & { diarized: DiarizationResult; result: TranscriptResultOptions }

/** The JSON text of a result, its redacted spans, and the tokens that language models used. */
type JobResult = Pick<ResultText, 'text' | 'redacted'> & { llm: TokenUsage | undefined }

/** Builds the result of a job, with the add-ons that need a service. */
export async function buildJobResult(
  deps: PipelineDeps,
  job: ClaimedJob,
  options: BuildOptions,
): Promise<JobResult> {
  const { built, llm: buildTokens } = await buildWithoutServiceAddOns(deps, job, options)
  const { text, llm } = await addServiceAddOns(deps, job, { ...options, built })
  return { text, redacted: built.redacted, llm: sumUsage([buildTokens, llm]) }
}

/**
 * Builds the result. A step that changes the words may need a service; then the result is built
 * again with the responses.
 */
async function buildWithoutServiceAddOns(
  deps: PipelineDeps,
  job: ClaimedJob,
  { diarized, result, ...context }: BuildOptions,
): Promise<{ built: ResultText; llm?: TokenUsage | undefined }> {
  const { progress, metrics, signal } = context
  const { account } = job
  const buildOnce = (options: TranscriptResultOptions) => {
    progress.enter('build result')
    return metrics.stage('build result', () => {
      return deps.resultBuilder.build(diarized.transcript, options, { account, signal })
    })
  }
  const built = await buildOnce(result)
  if (!built.pendingRequests) return { built }
  const [serviceResponses] = await callAddOnServices(deps, job, {
    ...context,
    prepared: [built.pendingRequests],
  })
  return {
    built: await buildOnce({ ...result, serviceResponses }),
    llm: responseUsage(responsesOf([serviceResponses!])),
  }
}

/**
 * Returns the JSON text of the result with the add-ons that need a service, and the tokens that
 * language models used for them. Services receive only the words of the result, so that none
 * receives redacted words.
 */
async function addServiceAddOns(
  deps: PipelineDeps,
  job: ClaimedJob,
  { built, ...context }: Step & BuildContext & { built: ResultText },
): Promise<{ text: string; llm?: TokenUsage | undefined }> {
  const { text, prepared } = built
  if (prepared.length === 0) return { text }
  const serviceResponses = await callAddOnServices(deps, job, { ...context, prepared })
  const { account, params } = job
  const merge = { result: text, params, format: deps.config.addOnResults, serviceResponses }
  const merged = await context.metrics.stage('call services', () => {
    return deps.resultBuilder.merge(merge, { account, signal: context.signal })
  })
  return { text: merged, llm: responseUsage(responsesOf(serviceResponses)) }
}

/** Calls the services; the job holds no slot meanwhile. Earlier responses are reused. */
async function callAddOnServices(
  { services, log }: PipelineDeps,
  { id, account }: ClaimedJob,
  {
    prepared,
    channels: audio,
    slot,
    metrics,
    checkpoints,
    progress,
    signal,
  }: Step & BuildContext & { prepared: readonly ServiceRequests[] },
): Promise<ServiceResponses[]> {
  progress.enter('call services')
  slot.leave()
  return metrics.stage('call services', async () => {
    const responses = await checkpoints.openResponses()
    try {
      const options = {
        account,
        job: id,
        signal,
        audio,
        responses,
        log: log.child({ jobId: id }),
      }
      const { advance: onProgress } = progress
      return await callServices(services!, prepared, { ...options, onProgress })
    } finally {
      await responses.close()
    }
  })
}

function responsesOf(serviceResponses: readonly ServiceResponses[]): unknown[] {
  return serviceResponses.flatMap((response) => ('responses' in response ? response.responses : []))
}
