import type { Static } from 'typebox'
import { auditActions, auditSources } from '../../../storage/accounts/audit-log.ts'
import { MAX_NAME_CHARS } from '../common/limits.ts'
import { AnyOf, DateFilter, listPageSchema, pageFields } from '../common/list-query.ts'
import { Type } from '../common/type.ts'
import { DateTime, FreeObject, Nullable, OneOf, Uuid } from '../common/values.ts'

function Filter(description: string) {
  return Type.Optional(Type.String({ maxLength: MAX_NAME_CHARS, description }))
}

/** The filters and the page of a list of the audit log. */
export const AuditQuery = Type.Object({
  ...pageFields('Entries'),
  date: DateFilter('Entries of this UTC day'),
  before_date: DateFilter('Entries before this time'),
  after_date: DateFilter('Entries after this time'),
  action: AnyOf(auditActions, 'Entries of any of these actions'),
  account: Filter('Entries that concern this account'),
  key: Filter('What was done with the key of this id'),
  subject: Filter('Entries about the key, job, model or webhook of this id'),
})

/** One entry of the audit log. */
export const AuditEntryView = Type.Object(
  {
    id: Uuid,
    at: DateTime,
    action: OneOf(...auditActions),
    source: OneOf(...auditSources),
    account: Nullable(
      Type.String({ description: 'The account that it concerns; null for a start of a server' }),
    ),
    subject: Nullable(Type.String({ description: 'The id of the key, job, model or webhook' })),
    key: Nullable(Type.String({ description: 'The id of the key of the request' })),
    address: Nullable(Type.String({ description: 'The address that the request came from' })),
    details: FreeObject('The scopes of a key; the settings of a start, without secrets'),
  },
  { title: 'AuditEntry' },
)

/** An entry in a response. */
export type AuditEntryView = Static<typeof AuditEntryView>

/** A page of the audit log. */
export const AuditList = listPageSchema(AuditEntryView, 'AuditList')
