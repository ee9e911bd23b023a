/** Decodes the percent-encoding of a part of a URL; returns malformed text unchanged. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
