import type { EnvReader } from './env-reader.ts'

/**
 * The roles of a process: `api` answers requests, `worker` runs jobs of recordings, `live` runs
 * live sessions, `delivery` sends notifications.
 */
export const roles = ['api', 'worker', 'live', 'delivery'] as const

/** One role of a process. */
export type Role = (typeof roles)[number]

/** The roles and the address of this process among those that share a database. */
export type NodeConfig = {
  roles: readonly Role[]
  /** The origin by which other nodes reach it; undefined = the address that it listens on. */
  url: string | undefined
}

/** Reads the settings of a node. */
export function readNode(
  read: EnvReader,
  { isShared, problems }: { isShared: boolean; problems: string[] },
): NodeConfig {
  const named = read.list('ROLES', roles.join())
  const unknown = named.find((name) => !roles.some((role) => role === name))
  if (unknown !== undefined) {
    problems.push(`STENO_ROLES must be some of ${roles.join(', ')}; not ${unknown}`)
  }
  if (named.length === 0) problems.push(`STENO_ROLES must name at least one of ${roles.join(', ')}`)
  const chosen = roles.filter((role) => named.includes(role))
  if (chosen.length < roles.length && !isShared) {
    problems.push('STENO_ROLES needs STENO_DATABASE_URL: without it no server has the other roles')
  }
  const url = read.serviceUrl('NODE_URL')
  if (url !== undefined && new URL(url).pathname !== '/')
    problems.push('STENO_NODE_URL must have no path')
  return { roles: chosen, url }
}
