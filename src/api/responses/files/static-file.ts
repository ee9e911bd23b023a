import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The content of a file that `npm run build` wrote, with its content type and encoding. */
export type StaticFile = { content: Buffer; type: string; encoding: 'br' | 'gzip' | undefined }

/**
 * Reads a file that `npm run build` wrote, in a compression that the client accepts. Returns
 * undefined if there is no such file, or if no page loads files of its type.
 */
export async function readStaticFile(
  path: string,
  { acceptEncoding }: { acceptEncoding: string },
): Promise<StaticFile | undefined> {
  const type = types[extname(path)]
  if (!type) return undefined
  for (const [encoding, extension] of [
    ['br', 'br'],
    ['gzip', 'gz'],
  ] as const) {
    if (!new RegExp(`\\b${encoding}\\b`).test(acceptEncoding)) continue
    const content = await readIfExists(`${path}.${extension}`)
    if (content) return { content, type, encoding }
  }
  const content = await readIfExists(path)
  return content && { content, type, encoding: undefined }
}

/** Reads a file; resolves to undefined if it does not exist. */
export async function readIfExists(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
