import type { FastifyPluginAsync } from 'fastify'
import type { App } from '../../../app/app-type.ts'
import type { Config } from '../../../config/config.ts'
import { commandName } from '../../../config/installation.ts'
import { readProgramVersion } from '../../../config/version.ts'
import { baseUrlOf } from '../../responses/urls.ts'
import { sendDashboard, wantsPage } from './dashboard/page.ts'

/** The root page is for people who do not know the API yet, so the API description omits it. */
const schema = { hide: true } as object

/**
 * Serves `/`, the address that the server prints when it starts: the dashboard for browsers, and
 * links to all parts for programs. Neither needs a key.
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

/** Describes the server: its name and version, how to send a key, and the most important links. */
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
