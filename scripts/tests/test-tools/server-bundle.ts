import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

/** The environment variable with the server file that tests start. */
export const SERVER_BUNDLE = 'STENO_TEST_SERVER_BUNDLE'

const root = join(import.meta.dirname, '../../..')

/** Packages of hundreds of modules, which take a third of the time of a start. */
const LARGE_PACKAGES = ['kysely', 'typebox']

/**
 * Writes the server of `test/support/server/server-process.ts` as a single file, which starts in
 * two thirds of the processor time; returns its path. Long tests start it some hundred times.
 */
export async function bundleServer(): Promise<string> {
  const { build } = await import('vite')
  const folder = join(root, 'node_modules/.cache/test-server')
  await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: join(root, 'test/support/server/server-process.ts'),
      outDir: folder,
      emptyOutDir: true,
      copyPublicDir: false,
      reportCompressedSize: false,
    },
    ssr: { noExternal: LARGE_PACKAGES },
    plugins: [keepPlaces],
  })
  return join(folder, 'server-process.js')
}

/**
 * Keeps `import.meta.url` of modules, which find their workers and other files beside their source.
 */
const keepPlaces: Plugin = {
  name: 'keep-places',
  enforce: 'post',
  transform(code, id) {
    if (!id.endsWith('.ts')) return
    const places = { url: pathToFileURL(id).href, dirname: dirname(id), filename: id }
    return code.replaceAll(/\bimport\.meta\.(url|dirname|filename)\b/g, (_, name) => {
      return JSON.stringify(places[name as keyof typeof places])
    })
  },
}
