import type { SpeakerCounts } from '../speech-engine.ts'

/** `diarization_config` with the field names of the API; a count of 0 sets no limit. */
export type DiarizationConfig = {
  number_of_speakers?: number
  min_speakers?: number
  max_speakers?: number
  speaker_confidence?: boolean
}

/** Returns the requested speaker counts. */
export function countsOf(config: DiarizationConfig = {}): SpeakerCounts {
  const { number_of_speakers: exact, min_speakers: min, max_speakers: max } = config
  return { ...(exact && { exact }), ...(min && { min }), ...(max && { max }) }
}
