import type { Config } from '../../config.ts'
import { AppError } from '../../errors.ts'
import type { JobFilter, Part, Place } from '../../storage/jobs/job-lists.ts'
import type { JobKind } from '../../storage/jobs/jobs.ts'
import type { ListQuery } from '../schemas/list-query.ts'
import { DAY_MS, parseMoment } from './moments.ts'

/** The filter that a query asks for, without the account and the kind that its route implies. */
export function toFilter(query: ListQuery): Omit<JobFilter, 'account'> {
  const { status, kind, custom_metadata } = query
  return {
    ...periodOf(query),
    statuses: status,
    kinds: kind as JobKind[] | undefined,
    metadata: custom_metadata,
  }
}

/** The moments, in milliseconds since 1970, from and before which things are asked for. */
export function periodOf({
  date,
  before_date,
  after_date,
}: Pick<ListQuery, 'date' | 'before_date' | 'after_date'>) {
  const day = moment(date)
  const midnight = day === undefined ? undefined : Math.floor(day / DAY_MS) * DAY_MS
  const after = moment(after_date)
  return {
    from: latest(midnight, after === undefined ? undefined : after + 1),
    before: earliest(midnight === undefined ? undefined : midnight + DAY_MS, moment(before_date)),
  }
}

/** Refuses metadata that no job could have; searching for it would cost all the same. */
export function checkMetadataLength(
  { custom_metadata = {} }: ListQuery,
  { maxMetadataChars }: Pick<Config['requests'], 'maxMetadataChars'>,
): void {
  if (JSON.stringify(custom_metadata).length <= maxMetadataChars) return
  const rule = `must not be longer than ${maxMetadataChars} characters as JSON`
  const validationErrors = [`custom_metadata ${rule}`]
  throw new AppError('request_invalid', undefined, { validationErrors })
}

/** The part of the list: where the page before ended, when the query says so, else by counting. */
export function toPart({ cursor, offset }: ListQuery, limit: number): Part {
  const place = cursor === undefined ? undefined : parseCursor(cursor)
  // Somebody who changes the offset of a page's address wants that offset.
  return { offset, limit, after: place?.offset === offset ? place : undefined }
}

/**
 * Where a page ended, for the address of the next one: jobs that arrive meanwhile then move nothing.
 * It holds for one offset, which stands beside it for people and for clients that count.
 */
export function formatCursor({ createdAt, id }: Place, offset: number): string {
  return `${offset}.${createdAt}.${id}`
}

/** Tells a cursor of ours from anything else. */
export function isCursor(text: string): boolean {
  return parseCursor(text) !== undefined
}

function parseCursor(text: string): (Place & { offset: number }) | undefined {
  const [, offset, createdAt, id] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? []
  if (id === undefined) return undefined
  return { offset: Number(offset), createdAt: Number(createdAt), id }
}

/** What any list is asked with. */
export type PageQuery = Pick<ListQuery, 'offset' | 'limit' | 'cursor'> & Record<string, unknown>

/** What a page's address repeats of the query: the filters, lists as repeated parameters, metadata as JSON. */
export function filterParams(query: PageQuery): URLSearchParams {
  const { offset: _, limit: __, cursor: ___, ...filters } = query
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(filters)) {
    if (Array.isArray(value)) for (const item of value) params.append(name, String(item))
    else if (typeof value === 'object') params.append(name, JSON.stringify(value))
    else if (value !== undefined) params.append(name, String(value))
  }
  return params
}

function moment(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseMoment(text)
}

function latest(...moments: (number | undefined)[]): number | undefined {
  const given = moments.filter((one) => one !== undefined)
  return given.length > 0 ? Math.max(...given) : undefined
}

function earliest(...moments: (number | undefined)[]): number | undefined {
  const given = moments.filter((one) => one !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}
