/** Adds the remedy to a message about an address that the server refused. */
export function addAddressRemedy(message: string): string {
  if (!message.endsWith('not a public address')) return message
  return `${message}; the server's setting STENO_ALLOW_PRIVATE_NETWORK can allow it`
}
