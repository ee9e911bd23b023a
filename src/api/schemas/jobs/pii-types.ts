/** Names of groups of personal data types; contract 4.9 lists their members. */
const piiGroups: readonly string[] = [
  ...['APPI', 'APPI_SENSITIVE', 'CCI', 'CORE_ENTITIES', 'CPRA', 'GDPR', 'GDPR_SENSITIVE'],
  ...['HEALTH_INFORMATION', 'HIPAA_SAFE_HARBOR', 'LIDI', 'NUMERICAL_EXCL_PCI', 'PCI'],
  'QUEBEC_PRIVACY_ACT',
]

/** Every single type of personal data that a request or a result can name. */
export const piiSingleTypes: readonly string[] = [
  ...['ACCOUNT_NUMBER', 'AGE', 'DATE', 'DATE_INTERVAL', 'DOB', 'DRIVER_LICENSE', 'DURATION'],
  ...['EMAIL_ADDRESS', 'EVENT', 'FILENAME', 'GENDER', 'HEALTHCARE_NUMBER', 'IP_ADDRESS'],
  ...['LANGUAGE', 'LOCATION', 'LOCATION_ADDRESS', 'LOCATION_ADDRESS_STREET', 'LOCATION_CITY'],
  ...['LOCATION_COORDINATE', 'LOCATION_COUNTRY', 'LOCATION_STATE', 'LOCATION_ZIP'],
  ...['MARITAL_STATUS', 'MONEY', 'NAME', 'NAME_FAMILY', 'NAME_GIVEN', 'NAME_MEDICAL_PROFESSIONAL'],
  ...['NUMERICAL_PII', 'OCCUPATION', 'ORGANIZATION', 'ORGANIZATION_MEDICAL_FACILITY', 'ORIGIN'],
  ...['PASSPORT_NUMBER', 'PASSWORD', 'PHONE_NUMBER', 'PHYSICAL_ATTRIBUTE', 'POLITICAL_AFFILIATION'],
  ...['RELIGION', 'SEXUALITY', 'SSN', 'TIME', 'URL', 'USERNAME', 'VEHICLE_ID', 'ZODIAC_SIGN'],
  ...['BLOOD_TYPE', 'CONDITION', 'DOSE', 'DRUG', 'INJURY', 'MEDICAL_PROCESS', 'STATISTICS'],
  ...['BANK_ACCOUNT', 'CREDIT_CARD', 'CREDIT_CARD_EXPIRATION', 'CVV', 'ROUTING_NUMBER'],
  ...['CORPORATE_ACTION', 'DAY', 'EFFECT', 'FINANCIAL_METRIC', 'MEDICAL_CODE', 'MONTH'],
  ...['ORGANIZATION_ID', 'PRODUCT', 'PROJECT', 'TREND', 'YEAR'],
]

/** The values of `entity_types`. */
export const piiTypes: readonly string[] = [...piiGroups, ...piiSingleTypes]
