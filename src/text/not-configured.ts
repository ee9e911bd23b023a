type Params = Record<string, unknown>

/** The value that stands for "no result" where the contract (4.5) does not allow null. */
const emptyResults: Record<string, unknown> = { sentiment_analysis: '[]', diarization: [] }

/** Add-ons whose answer is a wrapper beside the transcription. */
const addons = [
  'translation',
  'summarization',
  'named_entity_recognition',
  'sentiment_analysis',
  'audio_to_llm',
  'sentences',
  'moderation',
  'name_consistency',
  'structured_data_extraction',
  'display_mode',
  'diarization',
] as const

/** The answers of the requested add-ons, none of which this version has: each says so, none fails the job. */
export function notConfiguredAddons(params: Params): Record<string, unknown> {
  const requested = addons.filter((name) => params[name] === true)
  return Object.fromEntries(requested.map((name) => [name, notConfigured(name)]))
}

/**
 * What the requested add-ons leave inside the transcription. Subtitles have no wrapper and no field
 * for an error: that none could be made is an empty list.
 */
export function notConfiguredTranscription(params: Params): Record<string, unknown> {
  return {
    ...(params.sentences === true ? { sentences: [notConfigured('sentences')] } : {}),
    ...(params.subtitles === true ? { subtitles: [] } : {}),
  }
}

/** The answer of an add-on that this version has not. */
export function notConfigured(name: string) {
  return {
    success: false,
    is_empty: true,
    exec_time: 0,
    error: {
      status_code: 501,
      exception: 'NotConfigured',
      message: `${name} is not available on this server`,
    },
    results: emptyResults[name] ?? null,
  }
}
