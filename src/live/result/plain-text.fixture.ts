import type { SessionText } from '../../text/live/live-text.ts'
import { failed } from '../../text/result/envelope.ts'
import { notConfigured } from '../../text/result/not-configured.ts'

/** Texts that stay as they are, and in which nothing is looked for. */
export const plainText: SessionText = {
  change: async ({ words }) => words,
  warnings: () => [],
  find: async (name) => failed(name, notConfigured(name).error!, { form: 'native' }),
  close: async () => {},
}
