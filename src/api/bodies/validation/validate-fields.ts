import type { Static, TSchema } from 'typebox'
import type { Config } from '../../../config/config.ts'
import { AppError } from '../../../errors.ts'
import { isObject } from '../../../is-object.ts'
import { parseDateTime } from '../../lists/date-time.ts'
import { isCursor } from '../../lists/list-query.ts'
import { canonicalLanguage } from '../../schemas/models/language-codes.ts'

/** A validation error: the path of the field, and the rule that its value must follow. */
export type FieldError = { path: readonly string[]; rule: string }

/** Whether unknown fields are rejected or ignored. */
export type ValidationOptions = Pick<Config['requests'], 'unknownFields'>

/** The JSON Schema keywords that our schemas use. */
type Rules = {
  type?: string
  enum?: readonly (string | number)[]
  format?: string
  anyOf?: readonly Rules[]
  properties?: Record<string, Rules>
  required?: readonly string[]
  patternProperties?: Record<string, Rules>
  maxProperties?: number
  propertyNames?: { maxLength?: number }
  items?: Rules
  default?: unknown
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  /** The variable that sets `maxItems`. */
  'x-setting'?: string
  /** Whether the field is no longer read. */
  'x-ignored'?: boolean
  minLength?: number
  maxLength?: number
}

type ValidationContext = ValidationOptions & {
  errors: FieldError[]
  ignored: string[]
  withoutEffect: string[]
}

/** The position of a value, as a linked list of path parts, which are joined only for an error. */
type FieldPath = { name: string | number; parent: FieldPath | undefined }

/**
 * Maximum errors that are collected. Then the rest of the body is not read, because nobody corrects
 * more at a time.
 */
const MAX_ERRORS = 1000
/**
 * Maximum characters of all lines. A line may contain a hundred allowed values; a thousand such
 * lines would make a response of half a megabyte.
 */
const MAX_LINE_CHARS = 64 * 1024
/** Maximum characters of a part of a path; a client may send longer keys. */
const MAX_PATH_PART_CHARS = 100

const formats = new Map([
  ['cursor', { test: isCursor, rule: 'must be a cursor that a list returned' }],
  ['date-or-date-time', { test: isDateOrDateTime, rule: 'must be an ISO 8601 date or date-time' }],
  ['http-url', { test: isHttpUrl, rule: 'must be an absolute http or https URL' }],
  [
    'label',
    { test: isLabel, rule: 'must contain only visible characters and no blanks at its ends' },
  ],
])

/**
 * Returns whether a text has only visible characters and no spaces around it, as names in lists
 * must.
 */
function isLabel(text: string): boolean {
  return text.trim() === text && !/\p{C}/u.test(text)
}

/**
 * Reads `value` by `schema` and records every error, in the order of the schema's fields. One pass
 * does what the API requires of input: null means absent, defaults are filled in, language aliases
 * are rewritten, nothing is coerced, unknown fields are dropped and named in `ignored`, or recorded
 * as errors. `withoutEffect` names fields that are no longer read, unless they are false. The value
 * has the type of the schema if no error was recorded.
 */
export function validateFields<T extends TSchema>(
  schema: T,
  value: unknown,
  options: ValidationOptions,
): { value: Static<T> } & Omit<ValidationContext, keyof ValidationOptions> {
  const found = { errors: [], ignored: [], withoutEffect: [] }
  if (!isObject(value)) throw new AppError('body_unreadable', 'it must be a JSON object')
  try {
    const fields = readValue(schema, value, undefined, { ...options, ...found })
    return { value: fields as Static<T>, ...found }
  } catch (error) {
    if (error !== tooManyErrors) throw error
    return { value: {} as Static<T>, ...found }
  }
}

/** The lines of a response about errors, and whether more errors were left out. */
export type ErrorLines = { lines: string[]; isTruncated: boolean }

/** Returns the lines of as many errors as fit. */
export function errorLines(errors: readonly FieldError[]): ErrorLines {
  const lines: string[] = []
  let characters = 0
  for (const error of errors.slice(0, MAX_ERRORS)) {
    const line = formatFieldError(error)
    characters += line.length
    if (characters > MAX_LINE_CHARS) break
    lines.push(line)
  }
  return { lines, isTruncated: lines.length < errors.length }
}

/** Returns the error with status 400 that lists these lines, or undefined if there are none. */
export function errorOfLines({ lines, isTruncated }: ErrorLines): AppError | undefined {
  if (lines.length === 0) return undefined
  const detail = isTruncated ? `the first ${lines.length} errors are listed` : undefined
  return new AppError('request_invalid', detail, { validationErrors: lines })
}

/**
 * Returns the error with status 400 that lists the errors of fields, or undefined if there are
 * none.
 */
export function validationError(errors: readonly FieldError[]): AppError | undefined {
  return errorOfLines(errorLines(errors))
}

/**
 * Returns the line of an error in the documented grammar: the field name, a space, and the rule.
 */
export function formatFieldError({ path, rule }: FieldError): string {
  return `${fieldNameOf(path)} ${rule}`
}

/** Returns the dotted name of a field, in letters, digits, `_` and `.`. */
function fieldNameOf(path: readonly string[]): string {
  return path.map((part) => part.slice(0, MAX_PATH_PART_CHARS).replace(/\W/g, '_')).join('.')
}

function readValue(
  rules: Rules,
  value: unknown,
  path: FieldPath | undefined,
  context: ValidationContext,
): unknown {
  const report = (rule: string) => addError(context, path, rule)
  if (rules.anyOf) {
    const branch = rules.anyOf.find((branchRules) => isOfType(value, expectedType(branchRules)))
    if (branch) return readValue(branch, value, path, context)
    return report(
      `must be ${rules.anyOf.map((branchRules) => describeType(expectedType(branchRules))).join(' or ')}`,
    )
  }
  if (!isOfType(value, expectedType(rules))) return report(requirementOf(rules))
  if (typeof value === 'string') return readText(rules, value, report)
  if (typeof value === 'number') return readNumber(rules, value, report)
  if (Array.isArray(value)) return readArray(rules, value, path, context, report)
  if (isObject(value)) return readObject(rules, value, path, context)
  return value
}

type ReportError = (rule: string) => undefined

/** The value thrown to stop reading early. */
const tooManyErrors = Symbol('enough errors')

/**
 * Adds an error. Reading stops at one error more than the limit, which shows that there are more.
 */
function addError(
  { errors }: ValidationContext,
  path: FieldPath | undefined,
  rule: string,
): undefined {
  errors.push({ path: pathOf(path), rule })
  if (errors.length > MAX_ERRORS) throw tooManyErrors
}

function pathOf(path: FieldPath | undefined): string[] {
  return path ? [...pathOf(path.parent), String(path.name)] : []
}

function readText(rules: Rules, text: string, report: ReportError): string {
  const isLanguage = rules.format === 'language-code'
  const value = isLanguage ? canonicalLanguage(text, (rules.enum ?? []) as string[]) : text
  if (rules.enum && !rules.enum.includes(value)) report(requirementOf(rules))
  else if (rules.minLength && value.length < rules.minLength) report('must not be empty')
  else if (rules.maxLength && value.length > rules.maxLength) {
    report(`must not be longer than ${rules.maxLength} characters`)
  } else {
    const format = formats.get(rules.format ?? '')
    if (format && !format.test(value)) report(format.rule)
  }
  return value
}

function readNumber(rules: Rules, value: number, report: ReportError): number {
  const { minimum, maximum } = rules
  if (rules.enum && !rules.enum.includes(value)) report(requirementOf(rules))
  if (minimum !== undefined && value < minimum) report(`must not be less than ${minimum}`)
  if (maximum !== undefined && value > maximum) report(`must not be greater than ${maximum}`)
  return value
}

function readArray(
  { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY, 'x-setting': setting }: Rules,
  value: readonly unknown[],
  path: FieldPath | undefined,
  context: ValidationContext,
  report: ReportError,
): unknown {
  if (value.length < minItems)
    report(`must hold at least ${minItems} item${minItems > 1 ? 's' : ''}`)
  if (value.length > maxItems) {
    return report(`must not hold more than ${maxItems} items${setting ? ` (${setting})` : ''}`)
  }
  return items
    ? value.map((item, i) => readValue(items, item, { name: i, parent: path }, context))
    : value
}

/** Reads an object with arbitrary keys. Their number is checked before any value is read. */
function readRecord(
  { patternProperties, maxProperties = Number.POSITIVE_INFINITY, propertyNames = {} }: Rules,
  value: Record<string, unknown>,
  path: FieldPath | undefined,
  context: ValidationContext,
): unknown {
  const [valueRules = {}] = Object.values(patternProperties!)
  const { maxLength = Number.POSITIVE_INFINITY } = propertyNames
  const names = Object.keys(value)
  if (names.length > maxProperties) {
    return addError(context, path, `must not hold more than ${maxProperties} keys`)
  }
  const entries = names.map((name) => {
    const fieldPath = { name, parent: path }
    if (name.length <= maxLength)
      return [name, readValue(valueRules, value[name], fieldPath, context)]
    return [
      name,
      addError(context, fieldPath, `must not be a key of more than ${maxLength} characters`),
    ]
  })
  return Object.fromEntries(entries)
}

function readObject(
  rules: Rules,
  value: Record<string, unknown>,
  path: FieldPath | undefined,
  context: ValidationContext,
): unknown {
  const { properties, required = [], patternProperties } = rules
  if (patternProperties) return readRecord(rules, value, path, context)
  if (!properties) return value
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(properties)) {
    const fieldRules = properties[name]!
    const fieldValue = Object.hasOwn(value, name) ? value[name] : undefined
    if (fieldValue !== undefined && fieldValue !== null) {
      const fieldPath = { name, parent: path }
      if (fieldRules['x-ignored'] && fieldValue !== false) addName(context.withoutEffect, fieldPath)
      result[name] = readValue(fieldRules, fieldValue, fieldPath, context)
    } else if ('default' in fieldRules) {
      result[name] = copyDefault(fieldRules.default)
    } else if (required.includes(name)) {
      addError(context, { name, parent: path }, 'is required')
    }
  }
  handleUnknownFields(context, { value, properties, path })
  return result
}

/**
 * Copies a default. Most defaults are not objects, and copying an object takes longer than the rest
 * of a field.
 */
function copyDefault(value: unknown): unknown {
  return typeof value === 'object' ? structuredClone(value) : value
}

/** Maximum fields that a warning names. */
const MAX_IGNORED = 10

function handleUnknownFields(
  context: ValidationContext,
  {
    value,
    properties,
    path,
  }: { value: object; properties: Record<string, Rules>; path: FieldPath | undefined },
): void {
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue
    const fieldPath = { name, parent: path }
    if (context.unknownFields === 'reject') {
      addError(context, fieldPath, 'must not be given: unknown field')
    } else {
      addName(context.ignored, fieldPath)
    }
  }
}

function addName(names: string[], path: FieldPath): void {
  if (names.length < MAX_IGNORED) names.push(fieldNameOf(pathOf(path)))
}

/** Returns the type that a value must have; all values of an enumeration have the same type. */
function expectedType(rules: Rules): string | undefined {
  return rules.enum ? typeof rules.enum[0] : rules.type
}

/** The texts that list the values of an enumeration; each is built once. */
const choiceTexts = new WeakMap<object, string>()

function requirementOf(rules: Rules): string {
  if (rules.enum) {
    const choiceText = choiceTexts.get(rules.enum) ?? `must be one of: ${rules.enum.join(', ')}`
    choiceTexts.set(rules.enum, choiceText)
    return choiceText
  }
  return formats.get(rules.format ?? '')?.rule ?? `must be ${describeType(rules.type)}`
}

function describeType(type: string | undefined): string {
  return /^[aio]/.test(type ?? '') ? `an ${type}` : `a ${type}`
}

function isOfType(value: unknown, type: string | undefined): boolean {
  if (type === undefined) return true
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'number') return Number.isFinite(value)
  return typeof value === type
}

function isDateOrDateTime(text: string): boolean {
  return parseDateTime(text) !== undefined
}

/**
 * Returns whether a text is an HTTP URL. URL parsers drop or replace whitespace, control characters
 * and lone surrogates, but the stored and fetched URL must be the one that was sent.
 */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}\p{Cs}]+$/iu.test(text) && URL.canParse(text)
}
