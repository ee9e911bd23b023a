import type { Config } from '../../../config/config.ts'
import { FreeObject } from '../common/values.ts'

/** The fewest characters of a key with its value: `"":1,`. */
const MIN_CHARS = 5

/**
 * Defines the metadata that the server returns with a job. The number of keys is limited by the
 * total of characters: a request with more is refused before any key is read.
 */
export function CustomMetadata({ maxMetadataChars }: Pick<Config['requests'], 'maxMetadataChars'>) {
  const description = `Returned with the job; ${maxMetadataChars} characters as JSON at most`
  return FreeObject(description, {
    maxProperties: Math.ceil(maxMetadataChars / MIN_CHARS),
    propertyNames: { maxLength: maxMetadataChars },
  })
}
