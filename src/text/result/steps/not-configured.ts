import { type Envelope, failedEnvelope } from './envelope.ts'

/** Add-ons that need a service. */
export const serviceOnlyAddOns = [
  'translation',
  'audio_to_llm',
  'structured_data_extraction',
] as const

/** Returns the response of an add-on that needs a language model, on a server without one. */
export function notConfiguredEnvelope(name: string): Envelope {
  return failedEnvelope(name, {
    status_code: 501,
    exception: 'NotConfigured',
    message: `${name} is not available on this server: it needs a language model (STENO_LLM_URL)`,
  })
}
