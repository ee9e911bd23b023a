import { decodePart } from '../../net/decode-part.ts'

/**
 * Returns the secrets of a request, to be hidden where a receiver echoes them: user name, password,
 * both together as they were sent, and the signatures.
 */
export function sentSecrets(url: URL | null, headers: Record<string, string>): string[] {
  const { authorization = '', 'webhook-signature': signatures = '' } = headers
  const encoded = [authorization.replace('Basic ', ''), ...signatures.split(/ ?v1,/)]
  // Base64 is matched without its padding, which some leave out.
  const bare = encoded.map((text) => text.replace(/=+$/, ''))
  const { username = '', password = '' } = url ?? {}
  const parts = [username, password].flatMap((part) => [part, decodePart(part)])
  return [...new Set([...bare, ...parts])].filter((secret) => secret !== '')
}
