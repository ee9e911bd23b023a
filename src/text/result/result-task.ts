import type { Transcript } from '../../transcript/transcript.ts'
import type { TextCapabilities } from '../capabilities.ts'
import type { RedactedSpan } from '../redaction/places.ts'
import type { AddOnError } from './envelope.ts'
import type { ResultOptions } from './result-text.ts'
import type { Retried, Retry } from './retry.ts'
import type { SafeError } from './safe-error.ts'

/** What a thread is asked for. */
export type Task =
  | { kind: 'build'; transcript: Transcript; result: ResultOptions }
  | { kind: 'retry'; retry: Retry }
  | { kind: 'describe' }

/** What it answers. */
export type Answers = { build: ResultText; retry: Retried; describe: TextCapabilities }

/** A task in hand. `given` are steps that broke down or hung before. */
export type ResultTask = {
  id: number
  task: Task
  given: Record<string, AddOnError>
  /** The name of the step under way: a thread that breaks down takes its messages along, but not this. */
  step: SharedArrayBuffer
}

/** What the thread says about the composition `id`. */
export type FromThread = { id: number } & (
  | { kind: 'step'; name: string }
  /** A step that goes on threw what it should not. */
  | { kind: 'fault'; name: string; fault: SafeError }
  | { kind: 'done'; answer: Answers[Task['kind']] }
  | { kind: 'failed'; fault: SafeError }
  /** A step without which there must be no result failed; `message` quotes nothing. */
  | { kind: 'refused'; message: string }
)

/** The JSON text of a result, and what to silence in the sound; nothing where nothing was redacted. */
export type ResultText = { text: string; redacted: RedactedSpan[] }

/** No step has a longer name. */
const MAX_NAME_BYTES = 64

/** The memory in which the step under way is noted. */
export function openStep(): SharedArrayBuffer {
  return new SharedArrayBuffer(MAX_NAME_BYTES)
}

/** Notes which step begins. */
export function noteStep(step: SharedArrayBuffer, name: string): void {
  const bytes = new Uint8Array(step)
  bytes.fill(0)
  bytes.set(Buffer.from(name).subarray(0, bytes.length))
}

/** The step that was noted last; undefined when none has begun. */
export function readStep(step: SharedArrayBuffer): string | undefined {
  const name = Buffer.from(new Uint8Array(step)).toString().replace(/\0+$/, '')
  return name || undefined
}
