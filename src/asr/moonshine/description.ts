import type { RecognizerInfo } from '../recognizer.ts'

/** The sizes of Moonshine for English. */
export type MoonshineSize = 'base' | 'tiny'

/** Returns the id and the capabilities of a Moonshine model, without loading it. */
export function describeMoonshine(size: MoonshineSize): RecognizerInfo {
  const capabilities = { languages: ['en'], wordTimes: true, maxSeconds: 30, vocabulary: false }
  return { id: `moonshine-${size}`, capabilities }
}
