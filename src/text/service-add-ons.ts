import type { ServiceAddOn } from './service-add-on.ts'

/** All add-ons that need a service, in the order of the result. A new one needs a line here. */
export const serviceAddOns: readonly ServiceAddOn[] = []
