import { moonshinePackage } from '../../model-files/bundled-packages.ts'
import type { RecognizerInfo, RecognizerThresholds } from '../recognizer.ts'
import type { MoonshineSize } from './dimensions.ts'

/** When results of Moonshine are trusted, tuned on recordings with reference transcripts. */
export const moonshineThresholds: RecognizerThresholds = {
  minRetryLogProb: -0.8,
  minLogProb: -1,
  minConfidenceInNoise: 0.1,
  minPartialLogProb: -1,
  minPartialWordConfidence: 0.5,
}

/** Whether a recognizer is a Moonshine model: all sizes have one vocabulary. */
export function isMoonshine(model: string): boolean {
  return model === 'moonshine-base' || model === 'moonshine-tiny'
}

/** Returns the id and the capabilities of a Moonshine model, without loading it. */
export function describeMoonshine(size: MoonshineSize): RecognizerInfo {
  const capabilities = { languages: ['en'], wordTimes: true, maxSeconds: 15, vocabulary: true }
  return { id: `moonshine-${size}`, revision: moonshinePackage.version, capabilities }
}
