/**
 * `npm run build` writes the dashboard's files to `dashboard/dist`, each also compressed. npm runs
 * it at `npm ci` as well (`--if-needed`): then it skips a build that is current, and an installation
 * without development dependencies goes on without a dashboard.
 */
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'dashboard/dist')
const COMPRESSED = /\.(?:js|css|svg|html)$/

/** Returns whether the built page is newer than everything it is made of. */
function isCurrent(): boolean {
  const built = statSync(join(folder, 'index.html'), { throwIfNoEntry: false })
  if (!built) return false
  const sources = ['package-lock.json', 'dashboard/index.html', 'dashboard/vite.config.ts']
  const files = [...sources, ...globSync('dashboard/src/**/*.*', { cwd: root })]
  return files.every((file) => statSync(join(root, file)).mtimeMs < built.mtimeMs)
}

function compress(path: string): void {
  const content = readFileSync(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11 }
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }))
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
}

async function build(): Promise<void> {
  const { build } = await import('vite')
  rmSync(folder, { recursive: true, force: true })
  await build({ configFile: join(root, 'dashboard/vite.config.ts') })
  const files = globSync('dashboard/*', { cwd: folder }).filter((name) => COMPRESSED.test(name))
  for (const name of files) compress(join(folder, name))
}

const isOptional = process.argv.includes('--if-needed')
if (!(isOptional && isCurrent())) {
  try {
    await build()
  } catch (error) {
    if (!isOptional) throw error
    console.warn(`The dashboard was not built (${(error as Error).message.split('\n', 1)[0]});`)
    console.warn("the server works without it. 'npm run build' builds it.")
  }
}
