/**
 * `npm run build` writes the files that browsers load, each also compressed: the dashboard to
 * `dashboard/dist`, the documentation to `guide/dist`, and the script of the reference page to
 * `reference/dist`. npm runs it at `npm ci` as well (`--if-needed`): then it skips a build that is
 * current, and an installation without development dependencies goes on without them.
 */
import { globSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { compress } from './compress.ts'

const root = join(import.meta.dirname, '..')
const COMPRESSED = /\.(?:js|css|svg|html)$/

/** Something that is built from sources into a folder. */
type Build = {
  name: string
  folder: string
  /** The file that every build writes. */
  main: string
  sources: readonly string[]
  build(folder: string): Promise<void>
}

const builds: readonly Build[] = [
  {
    name: 'dashboard',
    folder: 'dashboard/dist',
    main: 'index.html',
    sources: ['dashboard/index.html', 'dashboard/vite.config.ts', 'dashboard/src/**/*.*'],
    async build(folder) {
      const { build } = await import('vite')
      rmSync(folder, { recursive: true, force: true })
      await build({ configFile: join(root, 'dashboard/vite.config.ts') })
      const files = globSync('dashboard/*', { cwd: folder }).filter((name) => COMPRESSED.test(name))
      for (const name of files) compress(join(folder, name))
    },
  },
  {
    name: 'documentation',
    folder: 'guide/dist',
    main: 'index.html',
    sources: [
      ...['README.md', 'CHANGELOG.md', 'docs/*.md', 'docs/guides/*.md', 'guide/*.*'],
      ...['scripts/guide/*.ts', 'scripts/compress.ts'],
    ],
    async build(folder) {
      const { buildGuide } = await import('./guide/build-guide.ts')
      buildGuide(folder)
    },
  },
  {
    name: 'reference page',
    folder: 'reference/dist',
    main: 'scalar.js',
    sources: ['scripts/build-reference-script.ts'],
    async build(folder) {
      const { buildReferenceScript } = await import('./build-reference-script.ts')
      await buildReferenceScript(folder)
    },
  },
]

/** Returns whether the built pages are newer than their sources. */
function isCurrent({ folder, main, sources }: Build): boolean {
  const built = statSync(join(root, folder, main), { throwIfNoEntry: false })
  if (!built) return false
  const files = ['package-lock.json', ...sources.flatMap((one) => globSync(one, { cwd: root }))]
  return files.every((file) => statSync(join(root, file)).mtimeMs < built.mtimeMs)
}

/** Returns how to build what was not built; an installation may lack the packages that build it. */
function remedyOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ERR_MODULE_NOT_FOUND'
    ? "'npm ci --include=dev' installs what is needed, and builds it."
    : "'npm run build' builds it."
}

const isOptional = process.argv.includes('--if-needed')
for (const one of builds) {
  if (isOptional && isCurrent(one)) continue
  try {
    await one.build(join(root, one.folder))
  } catch (error) {
    if (!isOptional) throw error
    console.warn(`The ${one.name} was not built (${(error as Error).message.split('\n', 1)[0]});`)
    console.warn(`the server works without it. ${remedyOf(error)}`)
  }
}
