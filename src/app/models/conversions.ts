import type { Conversion } from '../../models/catalog.ts'
import type { Convert } from '../../models/install/install.ts'

/** Loaded when one is needed: `steno models` must run where the modules of recognition do not. */
export const conversions: Record<Conversion, Convert> = {
  whisper: async (from, to, options) => {
    const { convertWhisper } = await import('../../asr/engines/whisper/weights/convert.ts')
    await convertWhisper(from, to, options)
  },
}
