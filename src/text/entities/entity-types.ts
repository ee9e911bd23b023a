/** Every single entity type, by its name in the API. */
export const entityTypes = [
  ...(['ACCOUNT_NUMBER', 'AGE', 'BANK_ACCOUNT', 'BLOOD_TYPE', 'CONDITION'] as const),
  ...(['CORPORATE_ACTION', 'CREDIT_CARD', 'CREDIT_CARD_EXPIRATION', 'CVV', 'DATE'] as const),
  ...(['DATE_INTERVAL', 'DAY', 'DOB', 'DOSE', 'DRIVER_LICENSE', 'DRUG', 'DURATION'] as const),
  ...(['EFFECT', 'EMAIL_ADDRESS', 'EVENT', 'FILENAME', 'FINANCIAL_METRIC', 'GENDER'] as const),
  ...(['HEALTHCARE_NUMBER', 'INJURY', 'IP_ADDRESS', 'LANGUAGE', 'LOCATION'] as const),
  ...(['LOCATION_ADDRESS', 'LOCATION_ADDRESS_STREET', 'LOCATION_CITY'] as const),
  ...(['LOCATION_COORDINATE', 'LOCATION_COUNTRY', 'LOCATION_STATE', 'LOCATION_ZIP'] as const),
  ...(['MARITAL_STATUS', 'MEDICAL_CODE', 'MEDICAL_PROCESS', 'MONEY', 'MONTH', 'NAME'] as const),
  ...(['NAME_FAMILY', 'NAME_GIVEN', 'NAME_MEDICAL_PROFESSIONAL', 'NUMERICAL_PII'] as const),
  ...(['OCCUPATION', 'ORGANIZATION', 'ORGANIZATION_ID', 'ORGANIZATION_MEDICAL_FACILITY'] as const),
  ...(['ORIGIN', 'PASSPORT_NUMBER', 'PASSWORD', 'PHONE_NUMBER', 'PHYSICAL_ATTRIBUTE'] as const),
  ...(['POLITICAL_AFFILIATION', 'PRODUCT', 'PROJECT', 'RELIGION', 'ROUTING_NUMBER'] as const),
  ...(['SEXUALITY', 'SSN', 'STATISTICS', 'TIME', 'TREND', 'URL', 'USERNAME'] as const),
  ...(['VEHICLE_ID', 'YEAR', 'ZODIAC_SIGN'] as const),
] as const

/** A single entity type. */
export type EntityType = (typeof entityTypes)[number]

/**
 * An entity in a text. `from` and `to` (exclusive) are offsets in the text of its document, without
 * surrounding punctuation and a possessive 's; `score` (0 to 1) is the confidence of its rule.
 */
export type Entity = { type: EntityType; from: number; to: number; score: number }

type Types = readonly EntityType[]

const anyName: Types = ['NAME', 'NAME_FAMILY', 'NAME_GIVEN', 'NAME_MEDICAL_PROFESSIONAL']
const address: Types = ['LOCATION_ADDRESS', 'LOCATION_ADDRESS_STREET', 'LOCATION_CITY']
const precisePlace: Types = [...address, 'LOCATION_COORDINATE', 'LOCATION_ZIP']
const anyPlace: Types = [...precisePlace, 'LOCATION', 'LOCATION_COUNTRY', 'LOCATION_STATE']
const bank: Types = ['BANK_ACCOUNT', 'CREDIT_CARD', 'CREDIT_CARD_EXPIRATION', 'CVV']
const identity: Types = [
  ...(['DRIVER_LICENSE', 'EMAIL_ADDRESS', 'HEALTHCARE_NUMBER', 'IP_ADDRESS'] as const),
  ...(['NUMERICAL_PII', 'PASSPORT_NUMBER', 'PHONE_NUMBER', 'SSN'] as const),
]
const health: Types = ['BLOOD_TYPE', 'CONDITION', 'DRUG', 'INJURY', 'MEDICAL_PROCESS']
const beliefs: Types = ['POLITICAL_AFFILIATION', 'RELIGION', 'SEXUALITY']
const employer: Types = ['OCCUPATION', 'ORGANIZATION', 'ORGANIZATION_MEDICAL_FACILITY']

/** The types behind each group name. */
export const entityGroups: Readonly<Record<string, Types>> = {
  APPI: [
    ...(['AGE', 'DOB', 'PASSWORD', 'VEHICLE_ID', 'DRUG'] as const),
    ...employer,
    ...[anyPlace, anyName, identity, bank].flat(),
  ],
  APPI_SENSITIVE: [
    ...(['CONDITION', 'DRUG', 'GENDER', 'INJURY', 'LANGUAGE', 'MARITAL_STATUS'] as const),
    ...(['MEDICAL_PROCESS', 'ORIGIN', 'PHYSICAL_ATTRIBUTE'] as const),
    ...beliefs,
  ],
  CCI: [
    ...(['ACCOUNT_NUMBER', 'DATE', 'DATE_INTERVAL', 'EMAIL_ADDRESS', 'FILENAME'] as const),
    ...(['LOCATION', 'LOCATION_COUNTRY', 'LOCATION_STATE', 'LOCATION_ZIP'] as const),
    ...(['MONEY', 'NUMERICAL_PII', 'OCCUPATION', 'ORGANIZATION', 'PASSWORD', 'TIME'] as const),
    ...(['URL', 'VEHICLE_ID', 'ROUTING_NUMBER', 'DRUG', 'MEDICAL_PROCESS'] as const),
    ...address,
    ...bank,
  ],
  CORE_ENTITIES: [
    ...(['EMAIL_ADDRESS', 'PHONE_NUMBER', 'LOCATION_ADDRESS', 'DATE', 'DOB', 'SSN'] as const),
    ...(['PASSPORT_NUMBER', 'DRIVER_LICENSE', 'IP_ADDRESS', 'URL', 'USERNAME'] as const),
    ...anyName,
  ],
  CPRA: [
    ...(['DOB', 'GENDER', 'ORIGIN', 'PASSWORD', 'PHYSICAL_ATTRIBUTE'] as const),
    ...(['URL', 'USERNAME', 'VEHICLE_ID'] as const),
    ...[precisePlace, anyName, identity, bank, health, beliefs].flat(),
  ],
  GDPR: [
    ...(['AGE', 'DOB', 'LANGUAGE', 'URL', 'USERNAME', 'VEHICLE_ID'] as const),
    ...[anyPlace, anyName, identity, bank, health].flat(),
  ],
  GDPR_SENSITIVE: [
    ...(['GENDER', 'LANGUAGE', 'ORIGIN', 'PHYSICAL_ATTRIBUTE'] as const),
    ...beliefs,
  ],
  HEALTH_INFORMATION: [...health, 'DOSE', 'STATISTICS'],
  HIPAA_SAFE_HARBOR: [
    ...(['ACCOUNT_NUMBER', 'AGE', 'DATE', 'DATE_INTERVAL', 'DOB', 'LOCATION'] as const),
    ...(['URL', 'VEHICLE_ID'] as const),
    ...[precisePlace, anyName, identity, bank].flat(),
  ],
  LIDI: [...anyPlace, 'ORGANIZATION', 'ORIGIN', 'LANGUAGE', 'OCCUPATION'],
  NUMERICAL_EXCL_PCI: [
    ...(['ACCOUNT_NUMBER', 'NUMERICAL_PII', 'SSN', 'DRIVER_LICENSE'] as const),
    ...(['HEALTHCARE_NUMBER', 'PASSPORT_NUMBER', 'PHONE_NUMBER', 'VEHICLE_ID'] as const),
    ...(['IP_ADDRESS', 'ORGANIZATION_ID'] as const),
  ],
  PCI: [...bank, 'ROUTING_NUMBER'],
  QUEBEC_PRIVACY_ACT: [
    ...(['AGE', 'DATE', 'DATE_INTERVAL', 'DOB', 'ORIGIN', 'POLITICAL_AFFILIATION'] as const),
    ...(['RELIGION', 'STATISTICS'] as const),
    ...[employer, precisePlace, anyName, identity, bank, health].flat(),
  ],
}

/**
 * Returns the types that `entity_types` of a request names, with groups expanded; all types without
 * it, or with an empty list. Throws a RangeError for a name that is neither a type nor a group.
 */
export function expandTypes(names: string | readonly string[] | undefined): Set<EntityType> {
  const named = typeof names === 'string' ? [names] : (names ?? [])
  return new Set(named.length === 0 ? entityTypes : named.flatMap(expand))
}

function expand(name: string): Types {
  const group = Object.hasOwn(entityGroups, name) ? entityGroups[name] : undefined
  const types = group ?? entityTypes.filter((type) => type === name)
  if (types.length === 0) throw new RangeError(`Cannot expand the entity type: ${name}`)
  return types
}

/** Languages in which entities are found. */
export const languages: readonly string[] = ['en']
