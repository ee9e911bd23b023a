import { type EntityType, entityTypes, languages } from './entity-types.ts'

/**
 * How a type is found: `strong` by checksum or shape; `cue` only near words that announce it;
 * `list` by word lists, which may be incomplete; `none` not at all.
 */
export type EntitySupport = 'strong' | 'cue' | 'list' | 'none'

/** The description of one type, which shows how reliably it is found. */
export type EntityCapability = {
  type: EntityType
  support: EntitySupport
  languages: readonly string[]
}

const strong: readonly EntityType[] = [
  ...(['EMAIL_ADDRESS', 'URL', 'IP_ADDRESS', 'CREDIT_CARD', 'PHONE_NUMBER', 'MONEY'] as const),
  ...(['STATISTICS', 'DATE', 'DATE_INTERVAL', 'DURATION', 'DOSE', 'FILENAME', 'TIME'] as const),
  ...(['LOCATION_COORDINATE', 'VEHICLE_ID', 'DAY', 'MONTH', 'SSN', 'BANK_ACCOUNT', 'AGE'] as const),
]
const cue: readonly EntityType[] = [
  ...(['DOB', 'CVV', 'CREDIT_CARD_EXPIRATION', 'PASSPORT_NUMBER', 'DRIVER_LICENSE'] as const),
  ...(['PASSWORD', 'USERNAME', 'ACCOUNT_NUMBER', 'LOCATION_ZIP', 'HEALTHCARE_NUMBER'] as const),
  ...(['MEDICAL_CODE', 'ORGANIZATION_ID', 'PROJECT', 'NAME_MEDICAL_PROFESSIONAL'] as const),
  ...(['ORGANIZATION_MEDICAL_FACILITY', 'LOCATION_ADDRESS', 'LOCATION_ADDRESS_STREET'] as const),
  ...(['ROUTING_NUMBER', 'NAME_FAMILY', 'NUMERICAL_PII', 'YEAR', 'BLOOD_TYPE'] as const),
  'PHYSICAL_ATTRIBUTE',
]
const none: readonly EntityType[] = ['EFFECT', 'TREND']

/** Returns how each type is found, and in which languages. */
export function entityCapabilities(): EntityCapability[] {
  return entityTypes.map((type) => {
    const support = supportOf(type)
    return { type, support, languages: support === 'none' ? [] : languages }
  })
}

function supportOf(type: EntityType): EntitySupport {
  if (strong.includes(type)) return 'strong'
  if (cue.includes(type)) return 'cue'
  return none.includes(type) ? 'none' : 'list'
}
