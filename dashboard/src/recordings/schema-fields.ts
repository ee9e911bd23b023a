import type { ApiCapabilities } from '../../../src/cli/server/api-types.ts'

/** The part of a JSON schema that a form can ask for. */
type Schema = {
  type?: string
  enum?: readonly string[]
  anyOf?: readonly Schema[]
  items?: Schema
  minimum?: number
  maximum?: number
  maxLength?: number
  default?: unknown
  deprecated?: boolean
}

/** A field of a form, with the name that it has in the request. */
export type SchemaField = { name: string } & (
  | { kind: 'switch'; isOn: boolean }
  | { kind: 'number'; min: number | undefined; max: number | undefined; isWhole: boolean }
  | { kind: 'text'; maxLength: number | undefined }
  | { kind: 'lines' }
  | { kind: 'choice'; values: readonly string[]; usual: string | undefined }
  | { kind: 'choices'; values: readonly string[] }
)

export type AddOn = ApiCapabilities['add_ons'][number]

/** What the form asks for with fields of its own. */
export const askedFields: Readonly<Record<string, readonly string[]>> = {
  custom_vocabulary: ['vocabulary'],
  diarization: ['number_of_speakers'],
  summarization: ['type'],
  subtitles: ['formats'],
  translation: ['target_languages'],
  audio_to_llm: ['prompts'],
}

/** Returns the fields of an add-on's configuration, but for those that a form cannot ask for. */
export function fieldsOf({ config_schema }: Pick<AddOn, 'config_schema'>): SchemaField[] {
  const { properties = {} } = (config_schema ?? {}) as { properties?: Record<string, Schema> }
  return Object.entries(properties).flatMap(([name, schema]) => {
    const field = schema.deprecated ? undefined : toField(schema)
    return field ? [{ name, ...field } as SchemaField] : []
  })
}

type FieldKind<F = SchemaField> = F extends SchemaField ? Omit<F, 'name'> : never

function toField(schema: Schema): FieldKind | undefined {
  const { type, minimum, maximum, maxLength, items } = schema
  if (schema.anyOf) {
    // Where one or several will do, several can be chosen.
    const kinds = schema.anyOf.flatMap((one) => toField(one) ?? [])
    return kinds.find(({ kind }) => kind === 'choices') ?? kinds[0]
  }
  if (type === 'boolean') return { kind: 'switch', isOn: schema.default === true }
  if (type === 'integer' || type === 'number') {
    return { kind: 'number', min: minimum, max: maximum, isWhole: type === 'integer' }
  }
  if (type === 'string' && schema.enum) {
    const usual = typeof schema.default === 'string' ? schema.default : undefined
    return { kind: 'choice', values: schema.enum, usual }
  }
  if (type === 'string') return { kind: 'text', maxLength }
  if (type !== 'array' || !items) return undefined
  if (items.enum) return { kind: 'choices', values: items.enum }
  return items.type === 'string' ? { kind: 'lines' } : undefined
}

/** Returns the fields of an add-on for which the form has none of its own. */
export function furtherFieldsOf(addOn: Pick<AddOn, 'name' | 'config_schema'>): SchemaField[] {
  return fieldsOf(addOn).filter((field) => !askedFields[addOn.name]?.includes(field.name))
}

/**
 * Writes a name of the API for people, where a newer server has one that this page has no text for.
 */
export function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
