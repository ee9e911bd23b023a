import type { Conversion } from '../../models/catalog.ts'
import type { Convert } from '../../models/install/install.ts'

/**
 * The converters of model formats. Each is imported on use: `steno models` must run where the
 * recognition modules do not load.
 */
export const conversions: Record<Conversion, Convert> = {
  whisper: async (from, to, options) => {
    const { convertWhisper } = await import('../../asr/engines/whisper/weights/convert.ts')
    await convertWhisper(from, to, options)
  },
}
