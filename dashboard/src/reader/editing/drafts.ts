import type { Source } from './edits.ts'

/** What was typed into a row, and the words that it replaces. */
export type Draft = { text: string; source: Source }

/** What was typed into a transcript but is not stored. */
export type Drafts = {
  /** By row (`rowKey`). The rows open with it when the transcript is shown again. */
  rows: Map<string, Draft>
  /** Names of speakers, by the field; the fields show them when the transcript is shown again. */
  names: Map<string, string>
}

const drafts = new Map<string, Drafts>()

/** Returns what was typed into a transcript; it outlives the page, for example a new sign-in. */
export function draftsOf(path: string): Drafts {
  const found = drafts.get(path) ?? noDrafts()
  drafts.set(path, found)
  return found
}

/** Returns drafts of a transcript into which nothing was typed. */
export function noDrafts(): Drafts {
  return { rows: new Map(), names: new Map() }
}

/**
 * Returns the key of a row, so that text typed into it stays there when rows before it are added or
 * removed.
 */
export function rowKey({ utterance, from }: Source): string {
  return `${utterance} ${from}`
}

addEventListener('beforeunload', (event) => {
  if ([...drafts.values()].some(({ rows, names }) => rows.size + names.size > 0))
    event.preventDefault()
})
