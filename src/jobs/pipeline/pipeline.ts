import {
  type RecognitionRequest,
  readRecognitionRequest,
} from '../../asr/model-selection/recognition-request.ts'
import type { ModelSelection } from '../../asr/model-selection/select-models.ts'
import { warnOfLowConfidence } from '../../asr/recognition/low-confidence.ts'
import type { Batch, ChannelPcm, SpeechEngine } from '../../asr/speech-engine.ts'
import type { DecodedMedia } from '../../audio/decoder/decoder-messages.ts'
import { bytesPerSample, SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Config } from '../../config/config.ts'
import { sum } from '../../numbers.ts'
import type { JobUsage } from '../../storage/accounts/usage/usage.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import type { JobProgress } from '../../storage/jobs/queue/job-state.ts'
import type { RedactedAudio } from '../../storage/jobs/redacted-audio.ts'
import type { WrittenResult } from '../../storage/jobs/results.ts'
import { saveMediaProperties } from '../../storage/recordings/fetched-recording.ts'
import { findRecording, type StoredRecording } from '../../storage/recordings/recordings.ts'
import type { TranscriptResultOptions } from '../../text/result/transcript-result.ts'
import { servedAddOns } from '../../text/service-add-ons/service-add-on.ts'
import { roundTo } from '../../transcript/rounding.ts'
import { mapConcurrently } from '../../workers/map-concurrently.ts'
import { ensureRecording } from '../fetching/fetch-recording.ts'
import type { AttemptMetrics } from '../queue/attempt-metrics.ts'
import type { JobSlot } from '../queue/job-slots.ts'
import { assembleTranscript, type RecognizedBatch } from './assemble-transcript.ts'
import { buildJobResult } from './build-job-result.ts'
import { openCheckpoints } from './checkpoints/checkpoints.ts'
import { decodingWarnings } from './decoding-warnings.ts'
import { type DiarizationResult, diarizeRecording } from './diarize-recording.ts'
import { groupRecordingChannels } from './group-recording-channels.ts'
import type { PipelineDeps, Step } from './pipeline-deps.ts'
import { createProgress, type Progress } from './progress.ts'
import { storeRedactedAudio, wantsRedactedAudio } from './redacted-audio.ts'
import { checkResultSize } from './result-size.ts'

/** Options of an attempt: its abort signal, and the receivers of its progress and metrics. */
export type AttemptOptions = {
  signal: AbortSignal
  onProgress: (progress: JobProgress) => void
  slot: JobSlot
  metrics: AttemptMetrics
}

/**
 * The output of the pipeline: the result, the redacted recording that replaces the original, and
 * the usage that is recorded for the job.
 */
export type TranscriptionResult = {
  result: WrittenResult
  redactedAudio?: RedactedAudio | undefined
  usage?: JobUsage | undefined
}

/**
 * Creates the result of a job: fetches and decodes its recording, detects the speech of each
 * channel, recognizes it in batches, assembles the transcript, diarizes it, and builds the
 * requested result. The output of stages that an earlier attempt finished comes from its
 * checkpoints, so a job that was killed resumes where it was and ends with the same transcript.
 */
export async function runPipeline(
  deps: PipelineDeps,
  job: ClaimedJob,
  { signal, onProgress, slot, metrics }: AttemptOptions,
): Promise<TranscriptionResult> {
  const startedAt = performance.now()
  const progress = createProgress(onProgress)
  const request = readRecognitionRequest(job.params)

  progress.enter('fetch')
  await metrics.stage('fetch', () => ensureRecording(deps, job, { signal }))
  await installMissingModel(deps.speech, request, { progress, signal, slot, metrics })
  const selection = deps.speech.selectModels(request)
  const fetchedAt = performance.now()
  await metrics.stage('wait', () => slot.enter(signal))
  const enteredAt = performance.now()
  await using checkpoints = await openCheckpoints(deps.workFolder, job.id)

  progress.enter('decode')
  const step = { checkpoints, progress, signal }
  const decoded = await metrics.stage('decode', () => decodeRecording(deps, job, step))
  slot.decoded(decoded.duration * decoded.channels.length)
  const audio = { duration: roundTo(decoded.duration, 6), channels: decoded.channels.length }
  await saveMediaProperties(deps.db, job.lease, audio)
  progress.enter('detect speech')
  const { channels, mode, planned } = await metrics.stage('detect speech', () => {
    return prepareBatches(deps, job, { ...step, decoded, selection })
  })
  const batches = await identifyLanguages(deps.speech, planned, { ...step, selection, metrics })
  const recognized = await metrics.stage('recognize', () => recognize(deps.speech, batches, step))
  const diarized = await buildTranscript(deps, job, { ...step, recognized, channels, metrics })
  const workMs = performance.now() - enteredAt
  metrics.recognized({ audioSeconds: decoded.duration, workSeconds: workMs / 1000 })
  const result: TranscriptResultOptions = {
    audioDuration: decoded.duration,
    distinctChannels: channels.length,
    channelMode: mode,
    transcriptionTime: (fetchedAt - startedAt + workMs) / 1000,
    params: job.params,
    format: deps.config.addOnResults,
    warnings: [
      ...job.requestWarnings,
      ...decodingWarnings(decoded),
      ...joinWarnings(selection.warnings, recognized),
    ],
    diarizationError: diarized.diarizationError,
    diarizationSeconds: diarized.diarizationSeconds,
    served: servedAddOns(deps.services),
  }
  const build = { ...step, channels, slot, metrics, diarized, result }
  const { text, redacted, llm } = await buildJobResult(deps, job, build)
  await checkResultSize(deps.space, job, text)
  const usage = { ...audioUsage(decoded.duration, channels.length), llm }
  if (!wantsRedactedAudio(job.params)) return { result: text, usage }

  progress.enter('redact audio')
  // The last stage: once this is stored, the code that ends the job must keep or delete it.
  const redaction = { redacted, recognized: channels, signal, account: job.account }
  const redactedAudio = await metrics.stage('redact audio', async () => {
    await slot.enter(signal)
    return storeRedactedAudio(deps, decoded.channels, redaction)
  })
  return { result: text, redactedAudio, usage }
}

/** Returns the audio seconds of the job, which equal those in the metadata of the result. */
function audioUsage(duration: number, channels: number) {
  const audioSeconds = roundTo(duration, 6)
  return { audioSeconds, channelSeconds: roundTo(audioSeconds * channels, 6) }
}

type ModelOptions = Pick<AttemptOptions, 'signal' | 'slot' | 'metrics'> & { progress: Progress }

/** Installs a missing model, if models are installed on demand; the job holds no slot meanwhile. */
async function installMissingModel(
  { installer }: SpeechEngine,
  request: RecognitionRequest,
  { progress, signal, slot, metrics }: ModelOptions,
): Promise<void> {
  const missing = installer?.findMissing(request)
  if (!installer || !missing) return
  progress.enter('pull model')
  slot.leave()
  await metrics.stage('pull model', () => {
    return installer.install(missing, {
      signal,
      onProgress: ({ fraction, secondsLeft }) => progress.advance(fraction, secondsLeft),
    })
  })
}

type DecodedRecording = { decoded: DecodedMedia; selection: ModelSelection }

/** Groups the channels of a decoded recording, and plans batches of the speech in them. */
async function prepareBatches(
  deps: PipelineDeps,
  { params }: ClaimedJob,
  { decoded, selection: { finals, maxSeconds }, ...step }: Step & DecodedRecording,
) {
  const { signal, progress, checkpoints } = step
  const grouped = await groupRecordingChannels(deps, decoded, { ...step, params })
  const planOptions = {
    signal,
    onProgress: progress.advance,
    checkpointSpeech: checkpoints.checkpointSpeech,
    maxSeconds,
  }
  const planned = await deps.speech.planRecognition(grouped.channels, finals, planOptions)
  return { ...grouped, planned }
}

type LanguageStepOptions = { selection: ModelSelection; metrics: AttemptMetrics }

/** Identifies the language of each segment, if it is unknown, and regroups the batches. */
async function identifyLanguages(
  speech: SpeechEngine,
  batches: readonly Batch[],
  {
    selection: { identification },
    metrics,
    checkpoints,
    progress,
    signal,
  }: Step & LanguageStepOptions,
): Promise<readonly Batch[]> {
  if (!identification) return batches
  progress.enter('identify languages')
  const options = {
    signal,
    onProgress: progress.advance,
    checkpointLanguages: checkpoints.checkpointLanguages,
  }
  return metrics.stage('identify languages', () => {
    return speech.identifyLanguages(batches, identification, options)
  })
}

type RecognizedRecording = {
  recognized: RecognizedBatch[]
  channels: readonly ChannelPcm[]
  metrics: AttemptMetrics
}

/** Builds the transcript from the recognized batches, with speakers if they were requested. */
async function buildTranscript(
  { speech, config, log }: PipelineDeps,
  { id, params }: ClaimedJob,
  { recognized, channels, metrics, checkpoints, progress, signal }: Step & RecognizedRecording,
): Promise<DiarizationResult> {
  const transcript = assembleTranscript(recognized, { namesModels: config.models.inResults })
  if (params.diarization !== true) return { transcript }
  progress.enter('diarize')
  const deps = { speech, checkpoints, log: log.child({ jobId: id }) }
  const onProgress = progress.advance
  return metrics.stage('diarize', () => {
    return diarizeRecording(transcript, { ...deps, channels, params, signal, onProgress })
  })
}

function decodeRecording(
  { db, space, media, config }: PipelineDeps,
  { account, file }: ClaimedJob,
  { checkpoints, progress, signal }: Step,
) {
  return checkpoints.decode(async (folder) => {
    await using recording = await db.objects.openLocalCopy(file.id, { signal })
    const stored = await findRecording(db, { id: file.id, account })
    using _ = await space.reserveBytes(decodedBytes(stored, config.media))
    return await media.decode(recording.path, folder, {
      nameHint: file.filename ?? undefined,
      account,
      maxSeconds: config.media.maxAudio,
      seconds: stored?.duration,
      signal,
      onProgress: progress.advance,
    })
  })
}

/**
 * Returns the size in bytes of the decoded recording that its header implies, or 0 if unknown.
 * Identical channels are dropped only after decoding.
 */
function decodedBytes(file: StoredRecording | undefined, { maxAudio }: Config['media']): number {
  if (!file) return 0
  const seconds = Math.min(file.duration ?? 0, maxAudio)
  return Math.ceil(seconds * SAMPLE_RATE) * bytesPerSample('s16') * (file.channels ?? 1)
}

/**
 * Recognizes all batches, one more at a time than there are workers, so that no worker waits for
 * the next batch. Returns the results in the order of the batches.
 */
async function recognize(
  speech: SpeechEngine,
  batches: readonly Batch[],
  { checkpoints, progress, signal }: Step,
): Promise<RecognizedBatch[]> {
  const totalSamples = sum(batches.map(batchLength))
  const remainingBatches = batches.filter((batch) => !checkpoints.findRecognized(batch))
  let doneSamples = totalSamples - sum(remainingBatches.map(batchLength))
  const fraction = () => (totalSamples > 0 ? doneSamples / totalSamples : 1)
  progress.enter('recognize', fraction())
  await mapConcurrently(
    remainingBatches,
    async (batch, signal) => {
      await checkpoints.saveRecognized(batch, await speech.runBatch(batch, { signal }))
      doneSamples += batchLength(batch)
      progress.advance(fraction())
    },
    { limit: speech.workers + 1, signal },
  )
  return batches.map((batch) => {
    return { channel: batch.channel, segments: checkpoints.findRecognized(batch)! }
  })
}

/** Returns warnings about ignored options, each once, and about low confidence. */
function joinWarnings(selected: readonly string[], batches: readonly RecognizedBatch[]): string[] {
  const segments = batches.flatMap(({ segments }) => segments)
  const confidenceWarnings = warnOfLowConfidence({
    confidences: segments.flatMap(({ words }) => words.map(({ confidence }) => confidence)),
    uncovered: sum(segments.map(({ uncovered }) => uncovered)),
  })
  const recognitionWarnings = segments.flatMap(({ warnings }) => warnings)
  return [...new Set([...selected, ...recognitionWarnings, ...confidenceWarnings])]
}

/** Returns the number of samples of speech in a batch. */
function batchLength({ segments }: Batch): number {
  return sum(segments.map(({ start, end }) => end - start))
}
