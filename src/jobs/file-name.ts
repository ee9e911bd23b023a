/** As much as file systems take. */
const MAX_CHARACTERS = 255

/**
 * The name by which a recording is kept and given back: what follows the last slash of the name that a
 * client or an address gave it, without control characters; null when nothing is left. A name is for
 * people and for `Content-Disposition`: it must neither lead into a folder nor begin another header line. Of a long
 * one the beginning and the extension are kept.
 */
export function cleanFileName(given: string): string | null {
  const name = given
    .split(/[\\/]/)
    .at(-1)!
    .replace(/\p{Cc}/gu, '')
    .trim()
  return /^\.{0,2}$/.test(name) ? null : shorten(name)
}

function shorten(name: string): string {
  if (name.length <= MAX_CHARACTERS) return name
  const [extension = ''] = /\.\w{1,10}$/.exec(name) ?? []
  return (
    name.slice(0, MAX_CHARACTERS - extension.length).replace(/[\ud800-\udbff]$/, '') + extension
  )
}
