import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { listAudit, type StoredAuditEntry } from '../../../storage/accounts/audit-log.ts'
import { periodOf } from '../../lists/list-query.ts'
import { pageUrls } from '../../lists/write-list.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { type AuditEntryView, AuditList, AuditQuery } from '../../schemas/accounts/audit.ts'
import { errorResponses } from '../../schemas/common/error.ts'

const path = '/v2/audit'

/** Lists the entries of the audit log. An extension of the API. */
export function auditRoutes({
  config,
  storage: { db },
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  const schema = {
    tags: ['Server'],
    operationId: 'listAudit',
    summary: 'List the audit log',
    description:
      'Lists created and revoked keys, deleted jobs, and server starts, newest first. ' +
      'Needs a key with the scope `admin`.',
    querystring: AuditQuery,
    response: { 200: AuditList, ...errorResponses(400) },
  }
  return async (http) => {
    http.get(path, { schema }, async ({ query, raw }) => {
      const limit = Math.min(query.limit, config.http.listMaxLimit)
      const { action: actions, account, key: keyId, subject, offset } = query
      const filter = { ...periodOf(query), actions, account, keyId, subject }
      const page = await listAudit(db, filter, { offset, limit })
      const urls = pageUrls(`${baseUrlOf(raw, config.http)}${path}`, query, { limit, page })
      return { ...urls, items: page.entries.map(toView) }
    })
  }
}

function toView({ at, keyId: key, details, ...entry }: StoredAuditEntry): AuditEntryView {
  const parsed = JSON.parse(details) as Record<string, unknown>
  return { ...entry, at: new Date(at).toISOString(), key, details: parsed }
}
