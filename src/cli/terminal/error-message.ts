/**
 * Returns the message of an error. If a failed close suppressed another error, returns the message
 * of that one.
 */
export function messageOf(error: unknown): string {
  if (error instanceof SuppressedError) return messageOf(error.suppressed)
  return error instanceof Error ? error.message : String(error)
}
