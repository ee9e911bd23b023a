import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'

/**
 * Adds routes to `http` itself: what they hook into, parse and decorate would hold for all of
 * `http`. Routes with hooks or body parsers of their own need `http.register`, whose context takes
 * longer to make than the routes in it.
 */
export async function addRoutes(
  http: FastifyInstance,
  ...groups: readonly FastifyPluginAsyncTypebox[]
): Promise<void> {
  const typed = http.withTypeProvider<TypeBoxTypeProvider>()
  for (const add of groups) await add(typed, {})
}
