import type { Source } from './edits.ts'

/** What was typed into a row, and the words that it replaces. */
export type Draft = { text: string; source: Source }

const drafts = new Map<string, Map<string, Draft>>()

/**
 * Returns what was typed into a transcript but could not be stored, by row. The rows open with it
 * when the transcript is shown again, for example after a new sign-in.
 */
export function draftsOf(path: string): Map<string, Draft> {
  const found = drafts.get(path) ?? new Map<string, Draft>()
  drafts.set(path, found)
  return found
}

/**
 * Returns the key of a row, so that text typed into it stays there when rows before it are added or
 * removed.
 */
export function rowKey({ utterance, from }: Source): string {
  return `${utterance} ${from}`
}

addEventListener('beforeunload', (event) => {
  if ([...drafts.values()].some(({ size }) => size > 0)) event.preventDefault()
})
