import { opensWord } from '../tokens.ts'

/**
 * Offsets from the expected position at which the draft is searched for the model's token, nearest
 * first.
 */
const OFFSETS = [0, 1, -1, 2, -2, 3]

/**
 * Returns where a draft goes on after the model has written `token` in place of the one at `at`:
 * after the same token where it is near; at the same place where the model only adds to the word
 * before; or else at the next word.
 */
export function realignDraft(draft: readonly number[], at: number, token: number): number {
  if (at >= draft.length) return draft.length
  const offset = OFFSETS.find((offset) => draft[at + offset] === token)
  if (offset !== undefined) return at + offset + 1
  if (!opensWord(token) && opensWord(draft[at]!)) return at
  const next = draft.findIndex((other, i) => i > at && opensWord(other))
  return next < 0 ? draft.length : next
}
