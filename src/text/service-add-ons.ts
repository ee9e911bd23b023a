import type { ServiceAddOn } from './service-add-on.ts'
import { chapters } from './services/chapters.ts'
import { audioToLlm, structuredData, summarization } from './services/language-model.ts'
import { moderation } from './services/moderation.ts'
import { translation } from './services/translation.ts'

/** All add-ons that need a service, in the order of the result. A new one needs a line here. */
export const serviceAddOns: readonly ServiceAddOn[] = [
  translation,
  summarization,
  audioToLlm,
  structuredData,
  chapters,
  moderation,
]
