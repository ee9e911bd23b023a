import type { SessionText } from '../../../src/text/live/session-text.ts'
import { failedEnvelope } from '../../../src/text/result/steps/envelope.ts'
import { notConfiguredEnvelope } from '../../../src/text/result/steps/not-configured.ts'

/** A text pipeline that changes nothing and finds nothing. */
export const plainText: SessionText = {
  applyTransforms: async ({ words }) => words,
  warnings: () => [],
  runAddOn: async (name) =>
    failedEnvelope(name, notConfiguredEnvelope(name).error!, { format: 'native' }),
  close: async () => {},
}
