import { join } from 'node:path'
import {
  readIfThere,
  readStaticFile,
  type StaticFile,
} from '../../../responses/files/static-file.ts'

/** Where `npm run build` writes the dashboard. */
const FOLDER = join(import.meta.dirname, '../../../../../dashboard/dist')

/** Reads the page that loads all other files; undefined when the dashboard is not built. */
export async function readDashboardPage(): Promise<string | undefined> {
  return (await readIfThere(join(FOLDER, 'index.html')))?.toString()
}

/**
 * Reads a file that the page loads, compressed as the client takes it. Its name holds a hash of its
 * content. Undefined when there is no such file.
 */
export async function readAsset(
  name: string,
  options: { acceptEncoding: string },
): Promise<StaticFile | undefined> {
  if (!/^[\w-]+(?:\.[\w-]+)*\.(?:js|css|svg)$/.test(name)) return undefined
  return readStaticFile(join(FOLDER, 'dashboard', name), options)
}
