/** An address as it may be shown: a user name and password in it, either of which may be a secret, are hidden. */
export function withoutCredentials(address: string): string {
  const url = URL.parse(address)
  if (!url || (url.username === '' && url.password === '')) return address
  url.username = '***'
  url.password = ''
  return url.href
}
