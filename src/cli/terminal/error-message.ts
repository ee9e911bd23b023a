/**
 * Returns the message of an error for a person. If a failed close hides another error, returns that
 * one's.
 */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  return error instanceof Error ? error.message : String(error)
}
