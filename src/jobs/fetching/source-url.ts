import { decodePart } from '../../net/decode-part.ts'
import { sanitizeFileName } from '../uploads/sanitize-file-name.ts'

/**
 * Returns the name of a fetched recording: the last part of the URL's path, or null if it has none.
 */
export function fileNameInUrl(url: string): string | null {
  const path = URL.parse(url)?.pathname ?? ''
  return sanitizeFileName(decodePart(path.slice(path.lastIndexOf('/') + 1)))
}
