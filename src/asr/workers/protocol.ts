import type { PlainError } from '../../errors.ts'
import type { LiveCosts } from '../live/capacity.ts'
import type { OpenUtterance } from '../live/recognize-utterance.ts'
import type {
  DetectRequest,
  Final,
  LiveAudio,
  LiveUtterance,
  Partial,
  SpeechFrames,
} from '../live-recognizer.ts'
import type { RecognitionSettings } from '../recognizer.ts'
import type { DetectedSpeech } from '../segments.ts'
import type { EmbedTask } from '../speakers/diarizer.ts'
import type { Batch, RecognizedSegment, SpeakerTask, SpeakerUtterance } from '../speech-engine.ts'

/**
 * What a worker process is for, hence which models it loads. `diarization` runs a library that may
 * end its process.
 */
export type WorkerRole = 'batch' | 'live' | 'vad' | 'diarization'

/**
 * Work for a worker process. Audio is passed as a path: the worker reads only the part it needs.
 */
export type Task =
  | { kind: 'detect'; path: string; start: number; end: number; samples?: number }
  | ({ kind: 'recognize' } & Batch)
  | ({ kind: 'embed' } & EmbedTask)
  | ({ kind: 'speakers' } & SpeakerTask)
  | { kind: 'vad'; audio: LiveAudio; request: DetectRequest }
  | (RecognitionSettings & { kind: 'final'; utterance: LiveUtterance; wantsSpeaker: boolean })
  | (RecognitionSettings & { kind: 'partial' } & OpenUtterance)
  | { kind: 'measure'; partialInterval: number }
  | { kind: 'check' }

/** The result of each kind of task. */
export type TaskResult = {
  detect: DetectedSpeech
  recognize: RecognizedSegment[]
  embed: null
  speakers: SpeakerUtterance[]
  vad: SpeechFrames
  final: Final
  partial: Partial
  measure: LiveCosts
  check: null
}

/** A task, or the request to cancel one. */
export type ToWorker = { id: number; task: Task } | { id: number; cancel: true }

/** A worker is ready once its models are loaded; then it sends one answer per task. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'broken'; error: PlainError }
  | { type: 'result'; id: number; result: TaskResult[Task['kind']] }
  | { type: 'error'; id: number; error: PlainError }
