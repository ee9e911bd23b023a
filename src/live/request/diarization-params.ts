import type { DiarizationConfig } from '../../asr/speakers/requested-counts.ts'

/** The diarization parameters of a session (an extension of the API). */
export type DiarizationParams = {
  realtime_processing: { diarization?: boolean; diarization_config?: DiarizationConfig }
}

/** Returns whether a session requests diarization. */
export function wantsSpeakers({ realtime_processing }: DiarizationParams): boolean {
  return realtime_processing.diarization === true
}
