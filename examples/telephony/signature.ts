import { createHmac, timingSafeEqual } from 'node:crypto'

/** Returns what a provider sends as `X-Twilio-Signature` for a stream to this address. */
function signatureOf(url: string, token: string): string {
  return createHmac('sha1', token).update(url).digest('base64')
}

/** Returns whether a signature is that of the address, with or without the slash at its end. */
export function isSigned(url: string, { token, given }: { token: string; given: string }): boolean {
  const [path, query] = url.split('?', 2) as [string, string?]
  const bare = path.replace(/\/$/, '')
  const addresses = [bare, `${bare}/`].map((one) => (query === undefined ? one : `${one}?${query}`))
  const bytes = Buffer.from(given)
  return addresses.some((address) => {
    const expected = Buffer.from(signatureOf(address, token))
    return expected.length === bytes.length && timingSafeEqual(expected, bytes)
  })
}
