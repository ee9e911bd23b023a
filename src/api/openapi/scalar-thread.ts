import { parentPort } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

/**
 * The thread that loads the reference page's script. Its package holds it as a text of four
 * megabytes inside a plugin; reading it in the server would block everything else for a moment and
 * keep the text in memory forever.
 */
const http = Fastify()
await http.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
const { body, statusCode } = await http.inject('/docs/js/scalar.js')
if (statusCode !== 200) throw new Error(`the script was answered with ${statusCode}`)
parentPort!.postMessage(gzipSync(body))
