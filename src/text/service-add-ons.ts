import type { ServiceAddOn } from './service-add-on.ts'
import { chapters } from './service-add-ons/chapters.ts'
import { audioToLlm, structuredData, summarization } from './service-add-ons/language-model.ts'
import { moderation } from './service-add-ons/moderation.ts'
import { translation } from './service-add-ons/translation.ts'

/** All add-ons that need a service, in the order of the result. A new one needs a line here. */
export const serviceAddOns: readonly ServiceAddOn[] = [
  translation,
  summarization,
  audioToLlm,
  structuredData,
  chapters,
  moderation,
]
