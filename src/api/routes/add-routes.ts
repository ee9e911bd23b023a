import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'

/** The hooks of the server, which belong to no request. */
const serverHooks = ['onListen', 'onReady', 'preClose', 'onClose']

/** Methods that would also change the responses of other routes. */
const refusedMethods = [
  'addContentTypeParser',
  'removeContentTypeParser',
  'removeAllContentTypeParsers',
  'setErrorHandler',
  'decorate',
  'decorateRequest',
  'decorateReply',
] as const satisfies readonly (keyof FastifyInstance)[]

/**
 * Adds routes to `http` itself. Hooks, parsers and decorators of a group would apply to all of
 * `http`, so a group that adds any causes a `TypeError`. Routes with hooks or body parsers of their
 * own need `http.register`, whose context takes longer to create than the routes in it.
 */
export async function addRoutes(
  http: FastifyInstance,
  ...groups: readonly FastifyPluginAsyncTypebox[]
): Promise<void> {
  const restricted = refuseChanges(http).withTypeProvider<TypeBoxTypeProvider>()
  for (const add of groups) await add(restricted, {})
}

/** Returns `http` without the functions that change more than the routes of a group. */
function refuseChanges(http: FastifyInstance): FastifyInstance {
  const refuse = (method: string): never => {
    throw new TypeError(`Cannot call ${method} in addRoutes: use http.register for these routes`)
  }
  const refusingMethods = refusedMethods.map((name) => [name, { value: () => refuse(name) }])
  const addHook = (name: string, hook: never) => {
    return serverHooks.includes(name)
      ? http.addHook(name as never, hook)
      : refuse(`addHook ${name}`)
  }
  return Object.create(http, {
    ...Object.fromEntries(refusingMethods),
    addHook: { value: addHook },
  })
}
