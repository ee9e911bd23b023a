/** The maximum length of a file name in most file systems. */
const MAX_CHARACTERS = 255

/**
 * Returns the name under which a recording is stored and returned: the part after the last slash of
 * the name given by the client or the URL, without control characters; null if nothing is left. The
 * name is for people and for `Content-Disposition`: it must neither point into a folder nor start
 * another header line. A long name keeps its beginning and its extension.
 */
export function sanitizeFileName(fileName: string): string | null {
  const name = fileName
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
