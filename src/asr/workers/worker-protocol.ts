import type { PlainError } from '../../errors.ts'
import type { Word } from '../../transcript/transcript.ts'
import type { DraftText, RecognitionSettings } from '../engines/recognizer.ts'
import type { MeasuredCosts } from '../live-engine/capacity.ts'
import type {
  DetectRequest,
  FinalResult,
  LiveAudio,
  LiveUtterance,
  PartialResult,
  SpeechFrames,
} from '../live-engine/live-engine.ts'
import type { PartialUtterance } from '../live-engine/recognize-utterance.ts'
import type { DetectedSpeech } from '../segmentation/split-segments.ts'
import type { EmbedTask } from '../speakers/diarizer.ts'
import type {
  Batch,
  ChannelToRecognize,
  GroupChannelsTask,
  IdentifyTask,
  LanguageSpan,
  RecognizedSegment,
  SpeakerTask,
  SpeakerUtterance,
  TranslateTask,
} from '../speech-engine.ts'

/**
 * The role of a worker process, which determines the models that it loads: `live` loads the one for
 * finals, `partials` the one for open utterances. `diarization` runs a library that may crash its
 * process. `model` runs one installed model, its third argument, on the device of its fourth.
 */
export type WorkerRole = 'batch' | 'live' | 'partials' | 'vad' | 'diarization' | 'model'

/**
 * Work for a worker process. Audio is passed as a path: the worker reads only the part it needs.
 */
export type WorkerTask =
  /** Detects the speech from `start` to `end` of a file of `samples` samples. */
  | { kind: 'detect'; path: string; samples: number; start: number; end: number }
  | ({ kind: 'group-channels' } & GroupChannelsTask)
  | ({ kind: 'recognize' } & Batch)
  /** Batches of several jobs with equal settings, recognized together. */
  | { kind: 'recognize-all'; batches: readonly Batch[] }
  | ({ kind: 'embed' } & EmbedTask)
  | ({ kind: 'cluster-speakers' } & SpeakerTask)
  | ({ kind: 'identify' } & IdentifyTask)
  | ({ kind: 'translate' } & TranslateTask)
  /** Embeds the speaker of an utterance whose words another program recognized. */
  | { kind: 'embed-utterance'; utterance: LiveUtterance; words: Word[] }
  | { kind: 'vad'; audio: LiveAudio; request: DetectRequest }
  | (RecognitionSettings & { kind: 'final' } & EndedUtterance)
  | (RecognitionSettings & { kind: 'partial' } & PartialUtterance)
  | { kind: 'measure' }
  | { kind: 'check' }

/** The result of each kind of task. */
export type TaskResult = {
  detect: DetectedSpeech
  'group-channels': ChannelToRecognize[]
  recognize: RecognizedSegment[]
  'recognize-all': RecognizedSegment[][]
  embed: null
  'cluster-speakers': SpeakerUtterance[]
  identify: LanguageSpan[][]
  translate: string[]
  'embed-utterance': Pick<FinalResult, 'speakerEmbedding' | 'embeddingError'>
  vad: SpeechFrames
  final: FinalResult
  partial: PartialResult
  measure: MeasuredCosts
  check: null
}

/** An utterance that has ended, with the draft of its last partial. */
type EndedUtterance = {
  utterance: LiveUtterance
  draft?: DraftText | undefined
  wantsEmbedding: boolean
  isUrgent: boolean
}

/** A task, or the request to cancel one. */
export type ToWorker = { id: number; task: WorkerTask } | { id: number; cancel: true }

/** A worker is ready once its models are loaded; then it sends one response per task. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'broken'; error: PlainError }
  | { type: 'result'; id: number; result: TaskResult[WorkerTask['kind']] }
  | { type: 'error'; id: number; error: PlainError }
