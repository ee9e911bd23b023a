/**
 * Makes untrusted text safe to print: control characters, and characters that change the direction
 * of text, become question marks.
 */
export function sanitize(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

/**
 * Makes untrusted text of several lines safe to print, and keeps its line ends. Names in it must be
 * sanitized before, or they may add lines.
 */
export function sanitizeLines(text: string): string {
  return text.split('\n').map(sanitize).join('\n')
}

/**
 * Formats a value as indented JSON that is safe to print: the same characters are escaped, as JSON
 * allows.
 */
export function sanitizeJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/[^\P{C}\n]/gu, (character) => {
    return Array.from({ length: character.length }, (_, i) => {
      return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
    }).join('')
  })
}
