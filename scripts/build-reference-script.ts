import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import scalar from '@scalar/fastify-api-reference'
import Fastify from 'fastify'

/**
 * Writes the script of the reference page to `folder`, plain and compressed. Its package holds it
 * as a text of four megabytes inside a plugin, which only serves it.
 */
export async function buildReferenceScript(folder: string): Promise<void> {
  const http = Fastify()
  await http.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
  const { body, statusCode } = await http.inject('/docs/js/scalar.js')
  if (statusCode !== 200) throw new Error(`the script was answered with ${statusCode}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'scalar.js.gz'), gzipSync(body, { level: 9 }))
  // Written last: its time shows that the folder is complete.
  writeFileSync(join(folder, 'scalar.js'), body)
}
