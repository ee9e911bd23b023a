import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where `npm run build` writes the dashboard. */
const FOLDER = join(import.meta.dirname, '../../../dashboard/dist')

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A file of the dashboard, as it is sent. */
export type DashboardFile = { content: Buffer; type: string; encoding: 'br' | 'gzip' | undefined }

/** Reads the page that loads all other files; undefined when the dashboard is not built. */
export async function readPage(): Promise<string | undefined> {
  return (await read(join(FOLDER, 'index.html')))?.toString()
}

/**
 * Reads a file that the page loads, compressed as the client takes it. Its name holds a hash of its
 * content. Undefined when there is no such file.
 */
export async function readAsset(
  name: string,
  { acceptEncoding }: { acceptEncoding: string },
): Promise<DashboardFile | undefined> {
  const [, extension = ''] = /^[\w-]+(?:\.[\w-]+)*\.(\w+)$/.exec(name) ?? []
  const type = types[extension]
  if (!type) return undefined
  const path = join(FOLDER, 'dashboard', name)
  for (const [encoding, ending] of [
    ['br', 'br'],
    ['gzip', 'gz'],
  ] as const) {
    if (!new RegExp(`\\b${encoding}\\b`).test(acceptEncoding)) continue
    const content = await read(`${path}.${ending}`)
    if (content) return { content, type, encoding }
  }
  const content = await read(path)
  return content && { content, type, encoding: undefined }
}

async function read(path: string): Promise<Buffer | undefined> {
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
