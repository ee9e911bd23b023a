import { type Entity, type EntityType, entityTypes } from '../entities/entity-types.ts'

/** Types that are hidden when a more general one is requested, even if they are not requested. */
const parents: Partial<Record<EntityType, readonly EntityType[]>> = {
  NAME_GIVEN: ['NAME'],
  NAME_FAMILY: ['NAME'],
  NAME_MEDICAL_PROFESSIONAL: ['NAME'],
  LOCATION_ADDRESS_STREET: ['LOCATION_ADDRESS', 'LOCATION'],
  ...Object.fromEntries(
    entityTypes
      .filter((type) => /^LOCATION_(?!ADDRESS_STREET)/.test(type))
      .map((type) => [type, ['LOCATION']]),
  ),
  ORGANIZATION_MEDICAL_FACILITY: ['ORGANIZATION'],
  ...Object.fromEntries(
    ['DOB', 'DAY', 'MONTH', 'YEAR', 'DATE_INTERVAL'].map((type) => [type, ['DATE']]),
  ),
  ...Object.fromEntries(
    [
      ...['ACCOUNT_NUMBER', 'DRIVER_LICENSE', 'HEALTHCARE_NUMBER', 'ORGANIZATION_ID'],
      ...['PASSPORT_NUMBER', 'PHONE_NUMBER', 'SSN', 'VEHICLE_ID'],
    ].map((type) => [type, ['NUMERICAL_PII']]),
  ),
}

/**
 * Returns an entity with a requested type, or its parts with requested types; an empty list if no
 * type is requested.
 */
export function toRequestedTypes(
  text: string,
  entity: Entity,
  requestedTypes: ReadonlySet<EntityType>,
): Entity[] {
  const { type } = entity
  if (requestedTypes.has(type)) return [entity]
  const parent = parents[type]?.find((parentType) => requestedTypes.has(parentType))
  if (parent) return [{ ...entity, type: parent }]
  return /^NAME(?:_MEDICAL_PROFESSIONAL)?$/.test(type)
    ? partsOfName(text, entity, requestedTypes)
    : []
}

/**
 * Splits a full name: the first word is the given name, the others are the family name. After a
 * medical title, a single word is the family name.
 */
function partsOfName(
  text: string,
  entity: Entity,
  requestedTypes: ReadonlySet<EntityType>,
): Entity[] {
  const phrase = text.slice(entity.from, entity.to)
  const space = phrase.search(/\s/u)
  const isMedical = entity.type === 'NAME_MEDICAL_PROFESSIONAL'
  // If more of the name is already hidden, this is its beginning.
  const alone = isMedical && !/^\s#/.test(text.slice(entity.to)) ? 0 : phrase.length
  const splitAt = space < 0 ? alone : space
  const family = splitAt + (/^\s*/u.exec(phrase.slice(splitAt))?.[0].length ?? 0)
  const parts: Entity[] = [
    { ...entity, type: 'NAME_GIVEN', to: entity.from + splitAt },
    { ...entity, type: 'NAME_FAMILY', from: entity.from + family },
  ]
  return parts.filter(({ type, from, to }) => requestedTypes.has(type) && to > from)
}
