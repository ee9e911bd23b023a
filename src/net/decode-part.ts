/** Undoes the percent-encoding of a part of a URL; text that is not well encoded stays as it is. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
