import { chapters } from './chapters.ts'
import { audioToLlm, structuredData, summarization } from './llm-add-ons.ts'
import { moderation } from './moderation.ts'
import type { ServiceAddOn } from './service-add-on.ts'
import { translation } from './translation.ts'

/** All add-ons that need a service, in the order of the result. */
export const serviceAddOns: readonly ServiceAddOn[] = [
  translation,
  summarization,
  audioToLlm,
  structuredData,
  chapters,
  moderation,
]
