import type { Attack } from '../attacker.ts'

/** Sends one body repeatedly in 20 concurrent loops. */
function body(make: () => string, path = '/v2/pre-recorded'): Attack {
  return {
    async run({ send, repeat }) {
      const text = make()
      await repeat(20, async () => void (await send(path, { text })))
    },
  }
}

const times = <T>(count: number, make: (n: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n))
const pairs = <T>(count: number, make: (n: number) => T) =>
  Object.fromEntries(times(count, (n) => [`k${n}`, make(n)]))
const job = (params: Record<string, unknown>) =>
  JSON.stringify({ audio_url: 'http://127.0.0.1:9/a.wav', ...params })

/** Invalid codes of five letters, 745 kB in all. */
const languages = () => times(93_000, (n) => n.toString(36).padStart(5, 'x'))

const spelling = (variants: unknown) => ({
  custom_spelling: true,
  custom_spelling_config: { spelling_dictionary: variants },
})

/** Invalid values in each kind of list and map, as many as fit into a body. */
const invalidLists = () =>
  job({
    translation: true,
    translation_config: { target_languages: times(30_000, (n) => `q${n}`) },
    pii_redaction: true,
    pii_redaction_config: { entity_types: times(30_000, (n) => `Q${n}`) },
    subtitles: true,
    subtitles_config: { formats: times(20_000, (n) => n) },
    audio_to_llm: true,
    audio_to_llm_config: { prompts: times(20_000, () => [1]) },
  })

const vocabulary = () =>
  job({
    custom_vocabulary: true,
    custom_vocabulary_config: {
      vocabulary: times(20_000, (n) => ({ value: 1, intensity: 2, language: `q${n}` })),
    },
  })

const pronunciations = () =>
  job({
    custom_vocabulary: true,
    custom_vocabulary_config: {
      vocabulary: [{ value: 'Steno', pronunciations: times(180_000, () => 1) }],
    },
  })

const longTexts = () =>
  job({
    model: 'm'.repeat(200_000),
    callback_url: `http://${'a'.repeat(200_000)}`,
    translation_config: { target_languages: ['fr'], context: 'c'.repeat(200_000), model: 'x' },
    audio_to_llm_config: { prompts: ['p'.repeat(200_000)], model: 'z'.repeat(100_000) },
  })

/** Attacks with JSON bodies that are slow to validate. */
export const jsonAttacks: Record<string, Attack> = {
  'json-languages': body(() => job({ language_config: { languages: languages() } })),
  'json-languages-live': body(
    () => JSON.stringify({ language_config: { languages: languages() } }),
    '/v2/live',
  ),
  'json-spelling-wrong': body(() => job(spelling({ a: times(60_000, () => 1) }))),
  'json-spelling-keys': body(() => job(spelling(pairs(60_000, () => 1)))),
  'json-spelling-valid': body(() => job(spelling(pairs(40_000, (n) => [`v${n}`])))),
  'json-metadata': body(() => job({ custom_metadata: pairs(60_000, (n) => n) })),
  'json-unknown': body(() => job(pairs(90_000, () => 1))),
  'json-lists': body(invalidLists),
  'json-vocabulary': body(vocabulary),
  'json-pronunciations': body(pronunciations),
  'json-texts': body(longTexts),
  'json-deep': body(() => `{"custom_metadata":${'[['.repeat(250_000)}${']]'.repeat(250_000)}}`),
  'json-deep-objects': body(() => `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`),
  'json-upload': body(() => JSON.stringify(pairs(80_000, () => 1)), '/v2/upload'),
  'json-resend': body(() => JSON.stringify(pairs(80_000, () => 1)), '/v2/deliveries/resend'),
}
