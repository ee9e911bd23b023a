import { AppError } from '../../errors.ts'
import type { Scope } from '../../storage/accounts/keys.ts'

/** Throws `scope_missing` unless `scopes` include the scope that this method and route require. */
export function requireScope(
  scopes: readonly Scope[],
  { method, route }: { method: string; route: string },
): void {
  const missing = scopesOf(method, route).find((scope) => {
    // A key that may manage the keys of all accounts may manage those of its own account.
    return !scopes.includes(scope) && !(scope === 'keys' && scopes.includes('admin'))
  })
  if (missing === undefined) return
  throw new AppError('scope_missing', `its scopes are ${scopes.join(', ')}; ${missing} is needed`)
}

/**
 * Routes that reveal jobs: a webhook every job, a link one job, a retry what the result then
 * contains. A key that may only write must not use them.
 */
const REVEALING_ROUTE = /^\/v2\/endpoints$|\/:id\/(?:share|addons\/:name\/retry)$/

function scopesOf(method: string, route: string): Scope[] {
  if (method === 'POST' && REVEALING_ROUTE.test(route)) return ['read', 'write']
  return [scopeOf(method, route)]
}

/** Routes that concern the whole server. */
const adminRoutes = [
  '/v2/nodes',
  '/v2/load',
  '/v2/audit',
  '/v2/models',
  '/v2/models/:name',
  '/v2/models/:name/pull',
]

function scopeOf(method: string, route: string): Scope {
  if (adminRoutes.includes(route)) return 'admin'
  if (route === '/v2/keys' || route.startsWith('/v2/keys/')) return 'keys'
  if (method === 'GET' || method === 'HEAD') return 'read'
  // These routes are for transcripts of any kind of job.
  if (/\/:id\/(?:transcript|shares?)\b/.test(route)) return 'write'
  const isLive = ['/v2/live', '/v1/realtime'].some((path) => `${route}/`.startsWith(`${path}/`))
  return isLive ? 'live' : 'write'
}
