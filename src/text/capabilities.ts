import { addOns } from './add-ons.ts'
import { type EntityCapability, entityCapabilities } from './entities/capabilities.ts'
import { entityGroups } from './entities/groups.ts'
import { withoutEngine } from './result/not-configured.ts'
import { isRepeatable } from './result/retry.ts'
import { transforms } from './transforms.ts'

/** What can be told of one add-on, by the switch that asks for it. */
export type AddOnCapability = {
  name: string
  /** Whether it changes the words, or is made of them. */
  kind: 'transform' | 'add-on'
  isConfigured: boolean
  /** Whether it can be made again from a result. */
  isRepeatable: boolean
  languages: 'all' | readonly string[]
}

/** What can be made of a transcript here. */
export type TextCapabilities = {
  addOns: AddOnCapability[]
  entityTypes: EntityCapability[]
  /** The single types that each name of a group stands for. */
  entityGroups: Readonly<Record<string, readonly string[]>>
}

/** What the registries hold, in their order. */
export function textCapabilities(): TextCapabilities {
  const changing = transforms.map(({ name, languages }) => {
    return { name, kind: 'transform' as const, isConfigured: true, languages }
  })
  const made = addOns.map(({ name, languages }) => {
    return { name, kind: 'add-on' as const, isConfigured: true, languages }
  })
  const heard = { name: 'diarization', kind: 'add-on' as const, isConfigured: true }
  const missing = withoutEngine.map((name) => {
    return { name, kind: 'add-on' as const, isConfigured: false, languages: [] }
  })
  const all = [...changing, { ...heard, languages: 'all' as const }, ...made, ...missing]
  return {
    addOns: all.map((one) => ({ ...one, isRepeatable: isRepeatable(one.name) })),
    entityTypes: entityCapabilities(),
    entityGroups,
  }
}
