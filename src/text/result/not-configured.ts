import { type Envelope, failed } from './envelope.ts'

/** Add-ons that need an engine which this version lacks. */
export const withoutEngine = ['translation', 'audio_to_llm', 'structured_data_extraction'] as const

/** Returns the answer of an add-on that this server does not have. */
export function notConfigured(name: string): Envelope {
  return failed(name, {
    status_code: 501,
    exception: 'NotConfigured',
    message: `${name} is not available on this server`,
  })
}

/** Returns the answers of those of `names` that a session or job requested. */
export function notConfiguredAddOns(
  names: readonly string[],
  params: Readonly<Record<string, unknown>>,
): Record<string, Envelope> {
  const requested = names.filter((name) => params[name] === true)
  return Object.fromEntries(requested.map((name) => [name, notConfigured(name)]))
}
