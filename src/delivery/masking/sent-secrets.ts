import { decodePart } from '../../net/decode-part.ts'

/**
 * Returns the secrets of a request, to be hidden in its response: user name, password, their
 * encoded combination, and the signatures.
 */
export function sentSecrets(url: URL | null, headers: Record<string, string>): string[] {
  const { authorization = '', 'webhook-signature': signatures = '' } = headers
  const encoded = [authorization.replace('Basic ', ''), ...signatures.split(/ ?v1,/)]
  // Base64 is matched without its padding, which some receivers omit.
  const bare = encoded.map((text) => text.replace(/=+$/, ''))
  const { username = '', password = '' } = url ?? {}
  const parts = [username, password].flatMap((part) => [part, decodePart(part)])
  return [...new Set([...bare, ...parts])].filter((secret) => secret !== '')
}
