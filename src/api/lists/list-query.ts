import { DAY_MS } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import type { JobKind } from '../../storage/jobs/jobs.ts'
import type { JobFilter, ListCursor, PageRequest } from '../../storage/jobs/lists/job-lists.ts'
import type { ListQuery } from '../schemas/common/list-query.ts'
import { parseDateTime } from './date-time.ts'

/** Returns the filter of a query, without the account and the kind, which depend on the route. */
export function toFilter(query: ListQuery): Omit<JobFilter, 'account'> {
  const { status, kind, custom_metadata } = query
  return {
    ...periodOf(query),
    statuses: status,
    kinds: kind as JobKind[] | undefined,
    metadata: custom_metadata,
  }
}

/** Returns the start and the end of the requested period, in milliseconds since 1970. */
export function periodOf({
  date,
  before_date,
  after_date,
}: Pick<ListQuery, 'date' | 'before_date' | 'after_date'>) {
  const day = toMilliseconds(date)
  const midnight = day === undefined ? undefined : Math.floor(day / DAY_MS) * DAY_MS
  const after = toMilliseconds(after_date)
  return {
    from: latestOf(midnight, after === undefined ? undefined : after + 1),
    before: earliestOf(
      midnight === undefined ? undefined : midnight + DAY_MS,
      toMilliseconds(before_date),
    ),
  }
}

/**
 * Rejects metadata that no job can have. Otherwise a search for it would cost as much as any other.
 */
export function checkMetadataLength(
  { custom_metadata = {} }: ListQuery,
  { maxMetadataChars }: Pick<Config['requests'], 'maxMetadataChars'>,
): void {
  if (JSON.stringify(custom_metadata).length <= maxMetadataChars) return
  const limit = `${maxMetadataChars} characters as JSON (STENO_MAX_METADATA_CHARS)`
  const rule = `must not be longer than ${limit}`
  const validationErrors = [`custom_metadata ${rule}`]
  throw new AppError('request_invalid', undefined, { validationErrors })
}

/**
 * Returns the position of a page: after the end of the previous page, if the query states it, and
 * otherwise by counting.
 */
export function toPageRequest({ cursor, offset }: ListQuery, limit: number): PageRequest {
  const position = cursor === undefined ? undefined : parseCursor(cursor)
  // A client that changed the offset in the URL of a page gets that offset.
  return { offset, limit, after: position?.offset === offset ? position : undefined }
}

/**
 * Returns a cursor for the URL of the next page, so that new jobs do not shift the page. It
 * contains the offset, which people and some clients read; with another offset it is invalid.
 */
export function formatCursor({ createdAt, id }: ListCursor, offset: number): string {
  return `${offset}.${createdAt}.${id}`
}

/** Returns whether a text is a cursor of this server. */
export function isCursor(text: string): boolean {
  return parseCursor(text) !== undefined
}

function parseCursor(text: string): (ListCursor & { offset: number }) | undefined {
  const [, offset, createdAt, id] = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f-]{36})$/.exec(text) ?? []
  if (id === undefined) return undefined
  return { offset: Number(offset), createdAt: Number(createdAt), id }
}

/** The query of any list. */
export type PageQuery = Pick<ListQuery, 'offset' | 'limit' | 'cursor'> & Record<string, unknown>

/**
 * Returns the query parameters that the URL of a page repeats: the filters. A list becomes repeated
 * parameters; metadata becomes JSON.
 */
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

function toMilliseconds(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseDateTime(text)
}

function latestOf(...times: (number | undefined)[]): number | undefined {
  const definedTimes = times.filter((time) => time !== undefined)
  return definedTimes.length > 0 ? Math.max(...definedTimes) : undefined
}

function earliestOf(...times: (number | undefined)[]): number | undefined {
  const definedTimes = times.filter((time) => time !== undefined)
  return definedTimes.length > 0 ? Math.min(...definedTimes) : undefined
}
