import { type AddOnError, AddOnFailedError } from '../result/steps/envelope.ts'

/** The response of a language model to one request: its fields, or an error. */
export type LlmResponse = { error: AddOnError } | Record<string, unknown>

/** Reads a response of unknown form. */
export function asLlmResponse(response: unknown): LlmResponse {
  if (typeof response === 'object' && response !== null) return response as LlmResponse
  return { error: noResponse }
}

const noResponse: AddOnError = {
  status_code: 502,
  exception: 'ServiceFailed',
  message: 'the language model gave no answer',
}

/** Returns the error of a response; undefined when it has none. */
export function responseError(response: LlmResponse): AddOnError | undefined {
  return 'error' in response && response.error ? (response.error as AddOnError) : undefined
}

/** Returns the text of a response; throws `AddOnFailedError`. */
export function llmResponseText(response: LlmResponse): string {
  const error = responseError(response)
  if (error) throw new AddOnFailedError(error)
  const { text } = response as { text?: unknown }
  if (typeof text !== 'string') throw new AddOnFailedError(noResponse)
  return text
}

/** Throws the first error if all requests of an add-on failed. */
export function requireOne(responses: readonly LlmResponse[]): void {
  const errors = responses.map(responseError)
  if (errors.length > 0 && errors.every((error) => error)) throw new AddOnFailedError(errors[0]!)
}
