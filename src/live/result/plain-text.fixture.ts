import type { SessionText } from '../../text/live/session-text.ts'
import { failed } from '../../text/result/envelope.ts'
import { notConfigured } from '../../text/result/not-configured.ts'

/** A text pipeline that changes nothing and finds nothing. */
export const plainText: SessionText = {
  change: async ({ words }) => words,
  warnings: () => [],
  find: async (name) => failed(name, notConfigured(name).error!, { form: 'native' }),
  close: async () => {},
}
