import { countsOf, type DiarizationConfig } from '../../asr/speakers/requested-counts.ts'
import type {
  ChannelPcm,
  EngineOptions,
  SpeakerUtterance,
  SpeechEngine,
} from '../../asr/speech-engine.ts'
import { AppError, type ErrorCode } from '../../errors.ts'
import type { Log } from '../../observability/log.ts'
import { type AddOnError, diarizationFailed } from '../../text/result/steps/envelope.ts'
import type { Transcript, Utterance } from '../../transcript/transcript.ts'
import type { Checkpoints } from './checkpoints/checkpoints.ts'

/** The inputs for diarizing a recording. `channels` are the recognized ones. */
export type DiarizeOptions = EngineOptions & {
  speech: Pick<SpeechEngine, 'diarize'>
  channels: readonly ChannelPcm[]
  checkpoints: Pick<Checkpoints, 'checkpointEmbeddings'>
  params: Readonly<Record<string, unknown>>
  log: Log
  /** Returns the time in milliseconds. */
  now?: () => number
}

/**
 * The transcript with its speakers or, after a failure, the unchanged transcript with the error and
 * the seconds that diarization took.
 */
export type DiarizationResult = {
  transcript: Transcript
  diarizationError?: AddOnError
  diarizationSeconds?: number
}

/** Errors that end the attempt, not just the diarization. */
const ENDS_ATTEMPT: ReadonlySet<ErrorCode> = new Set([
  'server_stopping',
  'engine_unavailable',
  'storage_full',
])

/**
 * Assigns a speaker to each word. After a failure, the job continues without speakers. Rejects when
 * the attempt cannot continue at all: it was aborted, no worker is available or the disk is full.
 */
export async function diarizeRecording(
  transcript: Transcript,
  options: DiarizeOptions,
): Promise<DiarizationResult> {
  const { params, signal, log, now = performance.now.bind(performance) } = options
  const startedAt = now()
  const { speaker_confidence: wantsConfidence } = configOf(params)
  try {
    const utterances = await diarize(transcript, options)
    return {
      transcript: {
        utterances: wantsConfidence ? utterances : utterances.map(withoutSpeakerConfidence),
      },
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError && ENDS_ATTEMPT.has(error.code)) throw error
    log.error({ err: error }, 'diarization failed, the job continues without it')
    const diarizationSeconds = (now() - startedAt) / 1000
    return { transcript, diarizationError: diarizationFailed(error), diarizationSeconds }
  }
}

function withoutSpeakerConfidence({ speakerConfidence: _, ...utterance }: Utterance): Utterance {
  return utterance
}

function diarize(
  transcript: Transcript,
  { speech, channels, checkpoints, params, signal, onProgress }: DiarizeOptions,
): Promise<SpeakerUtterance[]> {
  const counts = countsOf(configOf(params))
  const { checkpointEmbeddings } = checkpoints
  const options = onProgress ? { signal, onProgress } : { signal }
  return speech.diarize({ transcript, channels, counts, checkpointEmbeddings }, options)
}

function configOf({ diarization_config }: DiarizeOptions['params']): DiarizationConfig {
  return (diarization_config ?? {}) as DiarizationConfig
}
