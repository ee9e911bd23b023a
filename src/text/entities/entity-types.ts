/** Every single entity type, by its name in the API (contract 2.3.1). */
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
