import { type EntityCapability, entityCapabilities } from '../entities/capabilities.ts'
import { entityGroups } from '../entities/entity-types.ts'
import { serviceOnlyAddOns } from '../result/steps/not-configured.ts'
import { isRepeatable } from '../result/steps/retry-add-on.ts'
import { transforms } from '../transforms/transforms.ts'
import { localAddOns } from './add-ons.ts'

/** The description of one add-on, by the parameter that enables it. */
export type AddOnCapability = {
  name: string
  /** A transform changes words; an add-on computes results from them. */
  kind: 'transform' | 'add-on'
  isConfigured: boolean
  /** Whether it can be run again on a stored result. */
  isRepeatable: boolean
  languages: 'all' | readonly string[]
}

/** The add-ons and entity types that this server supports. */
export type TextCapabilities = {
  addOns: AddOnCapability[]
  entityTypes: EntityCapability[]
  /** The entity types of each group. */
  entityGroups: Readonly<Record<string, readonly string[]>>
}

/** Describes the add-ons and entity types in the order of their lists. */
export function textCapabilities(): TextCapabilities {
  const changing = transforms.map(({ name, languages }) => {
    return { name, kind: 'transform' as const, isConfigured: true, languages }
  })
  const fromTranscript = localAddOns.map(({ name, languages }) => {
    return { name, kind: 'add-on' as const, isConfigured: true, languages }
  })
  const diarization = { name: 'diarization', kind: 'add-on' as const, isConfigured: true }
  const missing = serviceOnlyAddOns.map((name) => {
    return { name, kind: 'add-on' as const, isConfigured: false, languages: [] }
  })
  const all = [
    ...changing,
    { ...diarization, languages: 'all' as const },
    ...fromTranscript,
    ...missing,
  ]
  return {
    addOns: all.map((addOn) => ({ ...addOn, isRepeatable: isRepeatable(addOn.name) })),
    entityTypes: entityCapabilities(),
    entityGroups,
  }
}
