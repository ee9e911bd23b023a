import { decodePart } from './decode-part.ts'

/**
 * Returns the `Authorization` header for the user name and password in a URL (RFC 7617); undefined
 * without any.
 */
export function basicCredentials({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined
  const pair = [username, password].map(decodePart).join(':')
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
