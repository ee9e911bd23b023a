import type { EditOperation } from '../../../text/edits/plan-edits.ts'
import { EditRequest, type editKinds } from '../../schemas/transcripts/transcript-edits.ts'
import {
  type FieldError,
  type ValidationOptions,
  validateFields,
  validationError,
} from '../validation/validate-fields.ts'

/** The corrections that a request contains: operations, or a version to restore. */
export type RequestedEdits = { baseVersion: number } & (
  | { operations: EditOperation[] }
  | { restore: number }
)

const words = { needs: ['utterance', 'expected'], takes: ['from', 'to'] } as const

/** The fields of each kind of operation. A name is for a speaker or a channel. */
const fields: Record<
  (typeof editKinds)[number],
  { needs: readonly string[]; takes: readonly string[] }
> = {
  replace_words: { ...words, needs: [...words.needs, 'text'] },
  delete_words: words,
  set_speaker: { ...words, needs: [...words.needs, 'speaker'] },
  join_speakers: { needs: ['speaker', 'into'], takes: [] },
  name_speaker: { needs: ['name'], takes: ['speaker', 'channel'] },
  restore: { needs: ['version'], takes: [] },
}

/** Reads corrections; rejects with `request_invalid`. */
export function readEditRequest(body: unknown, options: ValidationOptions): RequestedEdits {
  const { value, errors } = validateFields(EditRequest, body, options)
  const operations = value.operations ?? []
  const invalid = validationError(errors.length > 0 ? errors : operations.flatMap(checkEditFields))
  if (invalid) throw invalid
  const { base_version: baseVersion } = value
  const [first] = operations
  if (first?.op !== 'restore') return { baseVersion, operations: operations as EditOperation[] }
  return { baseVersion, restore: first.version! }
}

type SubmittedEdit = { op: (typeof editKinds)[number] } & Record<string, unknown>

function checkEditFields(
  operation: SubmittedEdit,
  i: number,
  all: readonly SubmittedEdit[],
): FieldError[] {
  const { op, ...editFields } = operation
  const { needs, takes } = fields[op]
  const error = (name: string, rule: string) => ({ path: ['operations', String(i), name], rule })
  const missing = needs.filter((name) => editFields[name] === undefined)
  const foreign = Object.keys(editFields).filter((name) => ![...needs, ...takes].includes(name))
  const errors = [
    ...missing.map((name) => error(name, 'is required')),
    ...foreign.map((name) => error(name, `must not be given with ${op}`)),
  ]
  if (
    op === 'name_speaker' &&
    (editFields.speaker === undefined) === (editFields.channel === undefined)
  ) {
    errors.push(error('speaker', 'or channel must be given, and not both'))
  }
  if (op === 'restore' && all.length > 1) errors.push(error('op', 'must be the only operation'))
  return errors
}
