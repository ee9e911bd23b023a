import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'

/** The keywords of JSON Schema that a form supports. */
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

/** The fields of add-ons for which the form has controls of its own. */
export const fieldsWithControls: Readonly<Record<string, readonly string[]>> = {
  custom_vocabulary: ['vocabulary'],
  diarization: ['number_of_speakers'],
  summarization: ['type'],
  subtitles: ['formats'],
  translation: ['target_languages'],
  audio_to_llm: ['prompts'],
}

/** Returns the fields of an add-on's configuration that a form supports. */
export function configFields({ config_schema }: Pick<AddOn, 'config_schema'>): SchemaField[] {
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
    // If the schema allows one value or several, the form offers several.
    const kinds = schema.anyOf.flatMap((branch) => toField(branch) ?? [])
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

/** Returns the fields of an add-on for which the form has no controls of its own. */
export function otherConfigFields(addOn: Pick<AddOn, 'name' | 'config_schema'>): SchemaField[] {
  return configFields(addOn).filter(
    (field) => !fieldsWithControls[addOn.name]?.includes(field.name),
  )
}

/** Makes a name of the API readable, for names of newer servers for which this page has no text. */
export function readableLabel(name: string): string {
  const words = name.replaceAll('_', ' ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
