import type { FastifyPluginAsync } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import type { Config } from '../../../config/config.ts'
import { commandName } from '../../../config/installation.ts'
import { readProgramVersion } from '../../../config/version.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { sendDashboard, wantsPage } from './dashboard/page.ts'

/** The root is for whoever does not know the API yet: it is no part of what is described. */
const schema = { hide: true } as object

/**
 * Serves `/`, the address that a start prints: the dashboard for a browser, and for a program where
 * everything is. Neither needs a key.
 */
export function homeRoute({ config }: Pick<App, 'config'>): FastifyPluginAsync {
  const version = readProgramVersion()
  return async (http) => {
    http.get('/', { schema }, async (request, reply) => {
      if (wantsPage(request)) return sendDashboard(request, reply, config)
      const home = describeHome(baseUrlOf(request.raw, config.http), { version, ...config.http })
      return reply
        .type('application/json; charset=utf-8')
        .header('cache-control', 'no-cache')
        .header('vary', 'accept')
        .header('x-content-type-options', 'nosniff')
        .send(`${JSON.stringify(home, null, 2)}\n`)
    })
  }
}

type HomeOptions = Pick<Config['http'], 'authHeaderNames'> & { version: string }

/** Says what this is, how to send a key, and where to read on. */
function describeHome(base: string, { version, authHeaderNames }: HomeOptions) {
  const key = `Send a key in the header ${authHeaderNames[0]}`
  return {
    name: 'Steno',
    version,
    authentication: `${key}. The command '${commandName} keys create' creates one`,
    links: {
      dashboard: `${base}/`,
      documentation: `${base}/guide`,
      reference: `${base}/docs`,
      openapi: `${base}/openapi.json`,
      ready: `${base}/ready`,
      capabilities: `${base}/v2/capabilities`,
      upload: `${base}/v2/upload`,
      pre_recorded: `${base}/v2/pre-recorded`,
      live: `${base}/v2/live`,
    },
  }
}
