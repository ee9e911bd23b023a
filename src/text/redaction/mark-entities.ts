import { digitRuns } from '../entities/digit-runs.ts'
import type { EntityType } from '../entities/entity-types.ts'
import { lexemesOf } from '../entities/spoken-digits.ts'
import { foldCase } from '../word-parts.ts'
import type { Hidden } from './hide-entities.ts'
import { labelOf } from './labels.ts'
import { type Place, spansOf } from './places.ts'

/**
 * The markers of entities by their number on the canvas: numbered by label in order of appearance over all
 * channels, the same words of the same type alike (contract 4.9).
 */
export function markEntities(
  hidden: readonly Hidden[],
  places: ReadonlyMap<number, readonly Place[]>,
): Map<number, string> {
  const order = [...places].map(([number, where]) => ({ number, ...spansOf(where)[0]! }))
  order.sort((a, b) => a.start - b.start || a.channel - b.channel || a.number - b.number)
  const markers = new Map<number, string>()
  const known = new Map<string, string>()
  const counts = new Map<EntityType, number>()
  for (const { number } of order) {
    const { type, said } = hidden[number - 1]!
    const key = `${type} ${sameSaid(said)}`
    let marker = known.get(key)
    if (!marker) {
      const count = (counts.get(type) ?? 0) + 1
      counts.set(type, count)
      marker = `[${labelOf(type)}_${count}]`
      known.set(key, marker)
    }
    markers.set(number, marker)
  }
  return markers
}

/** What two ways to say the same have in common: digits read aloud are those written, letter case is nothing. */
function sameSaid(said: string): string {
  const [run, ...others] = digitRuns(lexemesOf(said))
  if (run && others.length === 0 && run.from === 0 && run.to === said.length) return run.digits
  return foldCase(said).replaceAll('’', "'").replace(/\s+/gu, ' ')
}
