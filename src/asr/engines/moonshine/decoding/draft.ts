import { opensWord } from '../tokens.ts'

/**
 * Offsets from the expected position at which the draft is searched for the model's token, nearest
 * first.
 */
const OFFSETS = [0, 1, -1, 2, -2, 3]

/**
 * Returns the index at which a draft resumes after the model wrote `token` instead of the draft's
 * token at `at`: after the same token if the draft has it nearby; at `at` if the model only
 * extended the previous word; or else at the next word.
 */
export function realignDraft(draft: readonly number[], at: number, token: number): number {
  if (at >= draft.length) return draft.length
  const offset = OFFSETS.find((offset) => draft[at + offset] === token)
  if (offset !== undefined) return at + offset + 1
  if (!opensWord(token) && opensWord(draft[at]!)) return at
  const next = draft.findIndex((other, i) => i > at && opensWord(other))
  return next < 0 ? draft.length : next
}
