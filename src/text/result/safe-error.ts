/** What may be logged of an error: its message may quote a transcript. */
export type SafeError = { name: string; frames: string[] }

/** More tell nothing new. */
const MAX_FRAMES = 10

/** Where an error comes from, without its message. */
export function toSafeError(error: unknown): SafeError {
  if (!(error instanceof Error)) return { name: typeof error, frames: [] }
  const name = /^\w{1,40}$/.test(error.name) ? error.name : 'Error'
  return { name, frames: framesOf(error) }
}

/** The message stands in front of them, as it was when the error was made: who changed it gets no frames. */
function framesOf({ name, message, stack = '' }: Error): string[] {
  const head = message === '' ? name : `${name}: ${message}`
  if (!stack.startsWith(`${head}\n`)) return []
  const lines = stack.slice(head.length + 1).split('\n')
  return lines.filter((line) => /^ {4}at .*:\d+:\d+\)?$/.test(line)).slice(0, MAX_FRAMES)
}
