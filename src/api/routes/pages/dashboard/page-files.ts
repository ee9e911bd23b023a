import { join } from 'node:path'
import {
  readIfExists,
  readStaticFile,
  type StaticFile,
} from '../../../responses/files/static-file.ts'

/** Where `npm run build` writes the dashboard. */
const FOLDER = join(import.meta.dirname, '../../../../../dashboard/dist')

/** Reads the page that loads all other files; undefined when the dashboard is not built. */
export async function readDashboardPage(): Promise<string | undefined> {
  return (await readIfExists(join(FOLDER, 'index.html')))?.toString()
}

/**
 * Reads a file that the page loads, in a compression that the client accepts. Its name contains a
 * hash of its content. Resolves to undefined if there is no such file.
 */
export async function readAsset(
  name: string,
  options: { acceptEncoding: string },
): Promise<StaticFile | undefined> {
  if (!/^[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg)$/.test(name)) return undefined
  return readStaticFile(join(FOLDER, 'dashboard', name), options)
}
