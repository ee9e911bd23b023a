/** Completes the message about an address that the server refused by what may help. */
export function nameRemedy(message: string): string {
  if (!message.endsWith('not a public address')) return message
  return `${message}; the server's setting STENO_ALLOW_PRIVATE_NETWORK can allow it`
}
