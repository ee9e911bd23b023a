/** Replaces user name and password of a URL by ***, since either may be a secret. */
export function maskCredentials(address: string): string {
  const url = URL.parse(address)
  if (!url || (url.username === '' && url.password === '')) return address
  url.username = '***'
  url.password = ''
  return url.href
}
