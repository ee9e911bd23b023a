/** Returns what a person is told of an error: of one that a failed close hides, that one. */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  return error instanceof Error ? error.message : String(error)
}
