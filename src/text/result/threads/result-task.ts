import type { Transcript } from '../../../transcript/transcript.ts'
import type { TextCapabilities } from '../../add-ons/capabilities.ts'
import type { EditResult, EditTask } from '../../edits/edit-task.ts'
import type { RedactedSpan } from '../../redaction/redacted-spans.ts'
import type { SearchableUtterance, SearchedResult } from '../../search/searchable-utterances.ts'
import type { Merge } from '../merge-responses.ts'
import type { AddOnError } from '../steps/envelope.ts'
import type { Retry, RetryResult } from '../steps/retry-add-on.ts'
import type { ServiceRequests } from '../steps/run-service-add-on.ts'
import type { TranscriptFile, WrittenTranscript } from '../transcript-file.ts'
import type { TranscriptResultOptions } from '../transcript-result.ts'
import type { SafeError } from './safe-error.ts'

/** A task for a thread. */
export type BuilderTask =
  | { kind: 'build'; transcript: Transcript; result: TranscriptResultOptions }
  | { kind: 'merge'; merge: Merge }
  | { kind: 'retry'; retry: Retry }
  | { kind: 'transcript'; file: TranscriptFile }
  | { kind: 'searchable'; searched: SearchedResult }
  | { kind: 'edit'; edit: EditTask }
  | { kind: 'describe' }

/** The answer to each kind of task. */
export type Responses = {
  build: ResultText
  merge: string
  retry: RetryResult
  transcript: WrittenTranscript
  searchable: SearchableUtterance[]
  edit: EditResult
  describe: TextCapabilities
}

/** A running task. `failedSteps` are steps that crashed or hung before. */
export type ResultTask = {
  id: number
  task: BuilderTask
  failedSteps: Record<string, AddOnError>
  /** The name of the running step. It survives a crash of the thread, which loses messages. */
  step: SharedArrayBuffer
}

/** A message of the thread about the task `id`. */
export type FromResultThread = { id: number } & (
  | { kind: 'step'; name: string }
  /** A step threw an unexpected error, and the build goes on. */
  | { kind: 'fault'; name: string; fault: SafeError }
  | { kind: 'done'; response: Responses[BuilderTask['kind']] }
  | { kind: 'failed'; fault: SafeError }
  /** A required step failed, so there is no result; `message` quotes nothing. */
  | { kind: 'refused'; message: string }
)

/**
 * The JSON text of a result; the audio spans to silence, empty without redaction; and the add-ons
 * that need responses of a service, empty without a service. `pendingRequests`: nothing is built
 * yet, and the build must be repeated with the responses.
 */
export type ResultText = {
  text: string
  redacted: RedactedSpan[]
  prepared: ServiceRequests[]
  pendingRequests?: ServiceRequests
}

/** The longest name of a step. */
const MAX_NAME_BYTES = 64

/** Creates the shared memory that holds the name of the running step. */
export function createStepName(): SharedArrayBuffer {
  return new SharedArrayBuffer(MAX_NAME_BYTES)
}

/** Stores the name of the step that begins. */
export function storeStepName(step: SharedArrayBuffer, name: string): void {
  const bytes = new Uint8Array(step)
  bytes.fill(0)
  bytes.set(Buffer.from(name).subarray(0, bytes.length))
}

/** Returns the step stored last; undefined when none has begun. */
export function readStepName(step: SharedArrayBuffer): string | undefined {
  const name = Buffer.from(new Uint8Array(step)).toString().replace(/\0+$/, '')
  return name || undefined
}
