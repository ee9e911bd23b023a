import type { PlainError } from '../../errors.ts'
import type { LiveCosts } from '../live/capacity.ts'
import type {
  DetectRequest,
  Final,
  LiveAudio,
  LiveUtterance,
  Partial,
  SpeechFrames,
} from '../live-recognizer.ts'
import type { EmbedTask } from '../speakers/diarizer.ts'
import type { RecognizedSegment, Segment, SpeakerTask, SpeakerUtterance } from '../speech-engine.ts'

/** What a worker process is for, hence which models it loads. `turns` runs a library that may end its process. */
export type WorkerRole = 'batch' | 'live' | 'listen' | 'turns'

/** Work for a worker process. Audio travels as a path: the worker reads just the part it needs. */
export type Task =
  | { kind: 'detect'; path: string; start: number; end: number }
  | { kind: 'recognize'; path: string; segments: readonly Segment[]; language: string | undefined }
  | ({ kind: 'voices' } & EmbedTask)
  | ({ kind: 'speakers' } & SpeakerTask)
  | { kind: 'listen'; sound: LiveAudio; request: DetectRequest }
  | { kind: 'final'; utterance: LiveUtterance; wantsSpeaker: boolean }
  | { kind: 'partial'; utterance: LiveUtterance; draft: readonly number[]; isFirst: boolean }
  | { kind: 'measure'; partialInterval: number }
  | { kind: 'check' }

/** What each kind of task answers. */
export type TaskResult = {
  /** Speech probability per frame of 512 samples. */
  detect: Float32Array
  recognize: RecognizedSegment[]
  voices: null
  speakers: SpeakerUtterance[]
  listen: SpeechFrames
  final: Final
  partial: Partial
  measure: LiveCosts
  check: null
}

/** A task, or the wish that one be dropped. */
export type ToWorker = { id: number; task: Task } | { id: number; cancel: true }

/** A worker is ready once its models are loaded; then one answer per task. */
export type FromWorker =
  | { type: 'ready' }
  | { type: 'broken'; error: PlainError }
  | { type: 'result'; id: number; result: TaskResult[Task['kind']] }
  | { type: 'error'; id: number; error: PlainError }
