import { type EntityCapability, entityCapabilities } from '../entities/capabilities.ts'
import { entityGroups } from '../entities/entity-types.ts'
import { withoutEngine } from '../result/steps/not-configured.ts'
import { isRepeatable } from '../result/steps/retry-add-on.ts'
import { transforms } from '../transforms/transforms.ts'
import { addOns } from './add-ons.ts'

/** The description of one add-on, by the switch that requests it. */
export type AddOnCapability = {
  name: string
  /** Whether it changes the words, or is computed from them. */
  kind: 'transform' | 'add-on'
  isConfigured: boolean
  /** Whether it can be retried from a result. */
  isRepeatable: boolean
  languages: 'all' | readonly string[]
}

/** The add-ons and entity types that this server supports. */
export type TextCapabilities = {
  addOns: AddOnCapability[]
  entityTypes: EntityCapability[]
  /** The single types behind each group name. */
  entityGroups: Readonly<Record<string, readonly string[]>>
}

/** Returns the contents of the registries, in their order. */
export function textCapabilities(): TextCapabilities {
  const changing = transforms.map(({ name, languages }) => {
    return { name, kind: 'transform' as const, isConfigured: true, languages }
  })
  const fromTranscript = addOns.map(({ name, languages }) => {
    return { name, kind: 'add-on' as const, isConfigured: true, languages }
  })
  const diarization = { name: 'diarization', kind: 'add-on' as const, isConfigured: true }
  const missing = withoutEngine.map((name) => {
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
