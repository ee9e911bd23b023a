import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A file that `npm run build` wrote, as it is sent. */
export type StaticFile = { content: Buffer; type: string; encoding: 'br' | 'gzip' | undefined }

/**
 * Reads a file that `npm run build` wrote, compressed as the client takes it. Undefined when there
 * is none, or it is of a type that no page loads.
 */
export async function readStaticFile(
  path: string,
  { acceptEncoding }: { acceptEncoding: string },
): Promise<StaticFile | undefined> {
  const type = types[extname(path)]
  if (!type) return undefined
  for (const [encoding, ending] of [
    ['br', 'br'],
    ['gzip', 'gz'],
  ] as const) {
    if (!new RegExp(`\\b${encoding}\\b`).test(acceptEncoding)) continue
    const content = await readIfThere(`${path}.${ending}`)
    if (content) return { content, type, encoding }
  }
  const content = await readIfThere(path)
  return content && { content, type, encoding: undefined }
}

/** Reads a file; undefined if there is none. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
