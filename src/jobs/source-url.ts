import { decodePart } from '../net/decode-part.ts'
import { cleanFileName } from './file-name.ts'

/** The name a fetched recording goes by: the last part of the address's path, or null when it has none. */
export function filenameOf(url: string): string | null {
  const path = URL.parse(url)?.pathname ?? ''
  return cleanFileName(decodePart(path.slice(path.lastIndexOf('/') + 1)))
}
