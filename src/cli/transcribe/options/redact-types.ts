import { piiTypes } from '../../../api/schemas/jobs/pii-types.ts'
import { UsageError } from '../../terminal/arguments.ts'

/** Short names for common sets of types; the names of the API work as well. */
const shortNames: Record<string, readonly string[]> = {
  name: ['NAME', 'NAME_GIVEN', 'NAME_FAMILY', 'NAME_MEDICAL_PROFESSIONAL'],
  email: ['EMAIL_ADDRESS'],
  phone: ['PHONE_NUMBER'],
  card: ['CREDIT_CARD', 'CREDIT_CARD_EXPIRATION', 'CVV'],
  address: [
    ...['LOCATION_ADDRESS', 'LOCATION_ADDRESS_STREET', 'LOCATION_CITY', 'LOCATION_ZIP'],
    'LOCATION_COORDINATE',
  ],
  location: piiTypes.filter((type) => type.startsWith('LOCATION')),
  date: ['DATE', 'DATE_INTERVAL', 'DOB'],
  core: ['CORE_ENTITIES'],
  health: ['HEALTH_INFORMATION'],
  hipaa: ['HIPAA_SAFE_HARBOR'],
  quebec: ['QUEBEC_PRIVACY_ACT'],
}

/**
 * Reads the list of `--redact` and returns the `entity_types` of the API, or undefined for `all`,
 * which means every type. A name is a short one in singular or plural, or one of the API in any
 * letter case, with dashes or underscores. A name of the API in capitals means only that type.
 */
export function readRedactTypes(text: string): string[] | undefined {
  const names = text.split(',').map((name) => name.trim())
  const types = new Set(names.flatMap((name) => (name === 'all' ? [] : typesOf(name))))
  return names.includes('all') ? undefined : [...types]
}

function typesOf(name: string): readonly string[] {
  if (piiTypes.includes(name)) return [name]
  const lower = name.toLowerCase().replaceAll('-', '_')
  for (const singular of [lower, lower.replace(/(?<=s)es$|s$/, '')]) {
    if (Object.hasOwn(shortNames, singular)) return shortNames[singular]!
    const knownType = piiTypes.find((type) => type === singular.toUpperCase())
    if (knownType) return [knownType]
  }
  const short = Object.keys(shortNames).join(', ')
  const typeNames = piiTypes.join(', ').toLowerCase()
  throw new UsageError(`unknown type '${name}' in --redact; use all, ${short}, ${typeNames}`)
}
