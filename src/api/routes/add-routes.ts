import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance } from 'fastify'

/** Hooks of the server, which belong to no request. */
const serverHooks = ['onListen', 'onReady', 'preClose', 'onClose']

/** What would change how other routes answer, too. */
const refused = [
  'addContentTypeParser',
  'removeContentTypeParser',
  'removeAllContentTypeParsers',
  'setErrorHandler',
  'decorate',
  'decorateRequest',
  'decorateReply',
] as const satisfies readonly (keyof FastifyInstance)[]

/**
 * Adds routes to `http` itself: what they hook into, parse and decorate would hold for all of
 * `http`, so a group that tries is refused with `TypeError`. Routes with hooks or body parsers of
 * their own need `http.register`, whose context takes longer to make than the routes in it.
 */
export async function addRoutes(
  http: FastifyInstance,
  ...groups: readonly FastifyPluginAsyncTypebox[]
): Promise<void> {
  const typed = refuseChanges(http).withTypeProvider<TypeBoxTypeProvider>()
  for (const add of groups) await add(typed, {})
}

/** Returns `http` without the functions that change more than the routes of a group. */
function refuseChanges(http: FastifyInstance): FastifyInstance {
  const refuse = (missing: string): never => {
    throw new TypeError(`Cannot call ${missing} in addRoutes: use http.register for these routes`)
  }
  const refusals = refused.map((name) => [name, { value: () => refuse(name) }])
  const addHook = (name: string, hook: never) => {
    return serverHooks.includes(name)
      ? http.addHook(name as never, hook)
      : refuse(`addHook ${name}`)
  }
  return Object.create(http, { ...Object.fromEntries(refusals), addHook: { value: addHook } })
}
