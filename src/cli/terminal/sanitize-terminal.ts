/**
 * Text that a stranger may have chosen, fit to be printed: characters that a terminal would obey, or that
 * turn the order of others around, become question marks.
 */
export function sanitize(text: string): string {
  return text.replace(/\p{C}/gu, '?')
}

/** The same of a text whose lines stay lines; names in it have to be harmless already, or they may make some. */
export function sanitizeLines(text: string): string {
  return text.split('\n').map(sanitize).join('\n')
}

/** A value as indented JSON, fit to be printed: the same characters are escaped, as JSON allows. */
export function sanitizeJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(/[^\P{C}\n]/gu, (character) => {
    return Array.from({ length: character.length }, (_, i) => {
      return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
    }).join('')
  })
}
