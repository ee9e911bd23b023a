import type { Config } from '../../config.ts'
import { FreeObject } from './values.ts'

/** A key with its value takes five characters at least: `"":1,`. */
const LEAST_CHARS = 5

/**
 * What a client wants given back with its job. No more keys than the characters of all of it allow: whoever sends more
 * is refused before any of them is looked at.
 */
export function CustomMetadata({ maxMetadataChars }: Pick<Config['requests'], 'maxMetadataChars'>) {
  const description = `Given back with the job; ${maxMetadataChars} characters as JSON at most`
  return FreeObject(description, {
    maxProperties: Math.ceil(maxMetadataChars / LEAST_CHARS),
    propertyNames: { maxLength: maxMetadataChars },
  })
}
