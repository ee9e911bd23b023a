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

const wordFields = { required: ['utterance', 'expected'], optional: ['from', 'to'] } as const

/** The fields of each kind of operation. `name_speaker` needs either a speaker or a channel. */
const fieldsByOperation: Record<
  (typeof editKinds)[number],
  { required: readonly string[]; optional: readonly string[] }
> = {
  replace_words: { ...wordFields, required: [...wordFields.required, 'text'] },
  delete_words: wordFields,
  set_speaker: { ...wordFields, required: [...wordFields.required, 'speaker'] },
  join_speakers: { required: ['speaker', 'into'], optional: [] },
  name_speaker: { required: ['name'], optional: ['speaker', 'channel'] },
  restore: { required: ['version'], optional: [] },
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
  operations: readonly SubmittedEdit[],
): FieldError[] {
  const { op, ...editFields } = operation
  const { required, optional } = fieldsByOperation[op]
  const error = (name: string, rule: string) => ({ path: ['operations', String(i), name], rule })
  const missing = required.filter((name) => editFields[name] === undefined)
  const unexpected = Object.keys(editFields).filter(
    (name) => ![...required, ...optional].includes(name),
  )
  const errors = [
    ...missing.map((name) => error(name, 'is required')),
    ...unexpected.map((name) => error(name, `must not be given with ${op}`)),
  ]
  if (
    op === 'name_speaker' &&
    (editFields.speaker === undefined) === (editFields.channel === undefined)
  ) {
    errors.push(error('speaker', 'or channel must be given, and not both'))
  }
  if (op === 'restore' && operations.length > 1)
    errors.push(error('op', 'must be the only operation'))
  return errors
}
