/** Returns a URL without its user name and password, either of which may be a secret. */
export function withoutCredentials(address: string): string {
  const url = URL.parse(address)
  if (!url || (url.username === '' && url.password === '')) return address
  url.username = '***'
  url.password = ''
  return url.href
}
