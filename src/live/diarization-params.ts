import type { DiarizationConfig } from '../asr/speakers/requested-counts.ts'

/** What a session asks about its speakers (beyond the contract). */
export type DiarizationParams = {
  realtime_processing: { diarization?: boolean; diarization_config?: DiarizationConfig }
}

/** Whether a session tells who speaks. */
export function wantsSpeakers({ realtime_processing }: DiarizationParams): boolean {
  return realtime_processing.diarization === true
}
