import { type AddOnError, AddOnFailure } from '../result/steps/envelope.ts'

/** The answer of a language model to one request: its fields, or why there are none. */
export type LlmAnswer = { error: AddOnError } | Record<string, unknown>

/** Reads an answer of unknown form. */
export function readAnswer(answer: unknown): LlmAnswer {
  if (typeof answer === 'object' && answer !== null) return answer as LlmAnswer
  return { error: noAnswer }
}

const noAnswer: AddOnError = {
  ...{ status_code: 502, exception: 'ServiceFailed' },
  message: 'the language model gave no answer',
}

/** Returns the error of an answer; undefined when it has none. */
export function errorOf(answer: LlmAnswer): AddOnError | undefined {
  return 'error' in answer && answer.error ? (answer.error as AddOnError) : undefined
}

/** Returns the text of an answer; throws `AddOnFailure`. */
export function textOf(answer: LlmAnswer): string {
  const error = errorOf(answer)
  if (error) throw new AddOnFailure(error)
  const { text } = answer as { text?: unknown }
  if (typeof text !== 'string') throw new AddOnFailure(noAnswer)
  return text
}

/** Fails an add-on whose requests all failed, with the first error. */
export function requireOne(answers: readonly LlmAnswer[]): void {
  const errors = answers.map(errorOf)
  if (errors.length > 0 && errors.every((error) => error)) throw new AddOnFailure(errors[0]!)
}
