import { inParallel } from '../asr/in-parallel.ts'
import { retryOnce } from '../asr/retry-once.ts'
import { countsOf, type DiarizationConfig } from '../asr/speakers/requested-counts.ts'
import type { EngineOptions, SpeechEngine } from '../asr/speech-engine.ts'
import type { DecodedChannel } from '../audio/media.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Log } from '../log.ts'
import type { AddOnError } from '../text/result/envelope.ts'
import type { Transcript, Utterance } from '../transcript/transcript.ts'
import type { Checkpoints } from './checkpoints.ts'

/** The inputs for diarizing a recording. `channels` are those with audio of their own. */
export type DiarizeOptions = EngineOptions & {
  speech: SpeechEngine
  channels: readonly DecodedChannel[]
  stages: Pick<Checkpoints, 'embedSpeakers'>
  params: Readonly<Record<string, unknown>>
  log: Log
  /** Milliseconds. */
  now?: () => number
}

/**
 * The transcript with its speakers and the seconds that diarization took, or the unchanged
 * transcript with the reason why there are no speakers.
 */
export type Diarized = {
  transcript: Transcript
  diarizationError?: AddOnError
  diarizationSeconds?: number
}

/** These end the attempt, not just the diarization. */
const ENDS_ATTEMPT: ReadonlySet<ErrorCode> = new Set([
  'server_stopping',
  'engine_unavailable',
  'storage_full',
])

/**
 * Assigns a speaker to each word. A failure costs the job only its speakers. Rejects when the
 * attempt cannot continue at all: it was aborted, no worker is available or the disk is full.
 */
export async function diarizeRecording(
  transcript: Transcript,
  options: DiarizeOptions,
): Promise<Diarized> {
  const { params, signal, log, now = performance.now.bind(performance) } = options
  const startedAt = now()
  const { speaker_confidence: wantsConfidence } = configOf(params)
  try {
    const utterances = await diarize(transcript, options)
    return { transcript: { utterances: wantsConfidence ? utterances : utterances.map(unsure) } }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof AppError && ENDS_ATTEMPT.has(error.code)) throw error
    log.error({ err: error }, 'diarization failed, the job goes on without')
    const diarizationSeconds = (now() - startedAt) / 1000
    return { transcript, diarizationError: explain(error), diarizationSeconds }
  }
}

/** Names a model that the operator added; everything else is only in the log. */
function explain(error: unknown): AddOnError {
  const isModel = error instanceof AppError && error.code === 'speaker_model_unusable'
  const message = isModel ? error.message : 'diarization broke down'
  return { status_code: 500, exception: 'AddonFailed', message }
}

function unsure({ speakerConfidence: _, ...utterance }: Utterance): Utterance {
  return utterance
}

async function diarize(transcript: Transcript, options: DiarizeOptions): Promise<Utterance[]> {
  const { speech, channels, stages, params, signal, onProgress } = options
  const groups = channels.flatMap((pcm) => {
    return speech.planEmbeddings(wordsOf(transcript, pcm.channel), pcm).map((regions, part) => {
      return { pcm, regions, part }
    })
  })
  const counts = countsOf(configOf(params))
  // How the speakers are spread over several channels is unknown before they are recognized.
  const ofChannel = channels.length === 1 ? { counts } : {}
  let done = 0
  const files = await inParallel(
    groups,
    async ({ pcm, regions, part }, signal) => {
      const { channel } = pcm
      const file = await stages.embedSpeakers(
        { channel, part, model: speech.speakerModel },
        (to) => {
          return retryOnce(() => speech.embedSpeakers(pcm, regions, { signal, to, ...ofChannel }))
        },
      )
      onProgress?.(++done / groups.length)
      return { channel, file }
    },
    { limit: speech.workers + 1, signal },
  )
  const embeddings = channels.map(({ channel }) => {
    const own = files.filter((recognized) => recognized.channel === channel)
    return { channel, files: own.map(({ file }) => file) }
  })
  const task = { transcript, embeddings, counts }
  return retryOnce(() => speech.findSpeakers(task, { signal }))
}

function wordsOf({ utterances }: Transcript, channel: number) {
  return utterances.filter((own) => own.channel === channel).flatMap(({ words }) => words)
}

function configOf({ diarization_config }: DiarizeOptions['params']): DiarizationConfig {
  return (diarization_config ?? {}) as DiarizationConfig
}
