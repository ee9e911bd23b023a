/** The part of an error that is safe to log: its message may quote a transcript. */
export type SafeError = { name: string; frames: string[] }

/** Maximum frames of a stack; further ones do not help. */
const MAX_FRAMES = 10

/** Returns where an error comes from, without its message. */
export function toSafeError(error: unknown): SafeError {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] }
  const name = /^\w{1,40}$/.test(error.name) ? error.name : 'Error'
  return { name, frames: framesOf(error) }
}

/**
 * Returns the frames of a stack, which begins with the original message. Returns none if the
 * message has changed since.
 */
function framesOf({ name, message, stack = '' }: Error): string[] {
  const head = message === '' ? name : `${name}: ${message}`
  if (!stack.startsWith(`${head}\n`)) return []
  const lines = stack.slice(head.length + 1).split('\n')
  return lines.filter((line) => /^ {4}at .*:\d+:\d+\)?$/.test(line)).slice(0, MAX_FRAMES)
}
