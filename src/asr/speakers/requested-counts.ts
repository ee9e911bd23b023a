import type { SpeakerCounts } from '../speech-engine.ts'

/** `diarization_config` as the API names its fields; a count of 0 binds nothing. */
export type DiarizationConfig = {
  number_of_speakers?: number
  min_speakers?: number
  max_speakers?: number
  speaker_confidence?: boolean
}

/** How many speakers there are said to be. */
export function countsOf(config: DiarizationConfig = {}): SpeakerCounts {
  const { number_of_speakers: exact, min_speakers: min, max_speakers: max } = config
  return { ...(exact && { exact }), ...(min && { min }), ...(max && { max }) }
}
