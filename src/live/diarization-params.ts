import type { SpeakerCounts } from '../asr/speech-engine.ts'

/** What a session asks about its speakers (beyond the contract); a count of 0 binds nothing. */
export type DiarizationParams = {
  realtime_processing: {
    diarization?: boolean
    diarization_config?: {
      number_of_speakers?: number
      min_speakers?: number
      max_speakers?: number
      speaker_confidence?: boolean
    }
  }
}

/** How many speakers a session is said to have. */
export function countsOf({ realtime_processing }: DiarizationParams): SpeakerCounts {
  const {
    number_of_speakers: exact,
    min_speakers: min,
    max_speakers: max,
  } = realtime_processing.diarization_config ?? {}
  return { ...(exact && { exact }), ...(min && { min }), ...(max && { max }) }
}

/** Whether a session tells who speaks. */
export function wantsSpeakers({ realtime_processing }: DiarizationParams): boolean {
  return realtime_processing.diarization === true
}
