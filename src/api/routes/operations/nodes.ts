import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { listNodes, type Node } from '../../../storage/database/nodes/nodes.ts'
import { NodeList, type NodeView } from '../../schemas/operations/node.ts'

/** Lists the processes that share the database. An extension of the API. */
export function nodeRoutes({ storage: { db } }: Pick<App, 'storage'>): FastifyPluginAsyncTypebox {
  return async (http) => {
    const schema = {
      tags: ['Server'],
      operationId: 'listNodes',
      summary: 'List the nodes of this server',
      description:
        'Lists all processes that share the database, oldest first, with their roles and how many live ' +
        'sessions they run. Needs a key with the scope `admin`.',
      response: { 200: NodeList },
    }
    http.get('/v2/nodes', { schema }, async () => ({ items: (await listNodes(db)).map(toView) }))
  }
}

function toView({ id, host, pid, url, version, roles, live, ...node }: Node): NodeView {
  return {
    id,
    host,
    pid,
    url,
    version,
    roles: [...roles],
    state: node.isDraining ? 'draining' : 'ready',
    started_at: new Date(node.startedAt).toISOString(),
    heartbeat_at: new Date(node.heartbeatAt).toISOString(),
    ...(live && { live }),
  }
}
