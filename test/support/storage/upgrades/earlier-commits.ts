import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../..')

/** The files of a commit that say what it stores, by the names that they had over time. */
const STORE_PATHS = ['src/storage', 'src/live']
const STORE_FILE =
  /\/(migrations\/.*|postgres\/(schema|later-versions)|(disk-)?objects|object-(place|header)|encrypted-chunks|(live-|session-|shared-live-)?files|data-folder|session-log)\.ts$/
/** What the files of the bundled models depend on. */
const MODEL_PATHS = [
  ...['src/asr/models', 'src/asr/model-files', 'src/asr/onnx', 'src/asr/onnx-runtime.ts'],
  'scripts/install-models.ts',
]
const MAIN = 'src/main.ts'
const POSTGRES = ['src/storage/postgres', 'src/storage/database/postgres']

function git(...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 2 ** 26 })
}

/** A commit whose server stores something, and whether it can use PostgreSQL. */
export type EarlierCommit = { id: string; title: string; hasPostgres: boolean }

/** Returns the commits before this one that have a server, oldest first. */
export function findCommits(): EarlierCommit[] {
  const lines = git('log', '--reverse', '--format=%H %s').trim().split('\n')
  const commits: EarlierCommit[] = []
  for (const line of lines) {
    const id = line.slice(0, 40)
    const paths = git('ls-tree', '--name-only', id, MAIN, ...POSTGRES).split('\n')
    if (!paths.includes(MAIN)) continue
    commits.push({
      id,
      title: line.slice(41),
      hasPostgres: POSTGRES.some((path) => paths.includes(path)),
    })
  }
  return commits
}

/** Identifies the content of some paths of a commit. */
function contentOf(id: string, paths: readonly string[], name = /./): string {
  const files = git('ls-tree', '-r', id, ...paths).split('\n')
  const sources = files.filter((line) => name.test(line) && !/\.(test|fixture)\.ts$/.test(line))
  return createHash('sha256').update(sources.join('\n')).digest('hex').slice(0, 16)
}

/** Returns the last commit of each state of what is stored: the first may not start. */
export function lastOfEachStore(commits: readonly EarlierCommit[]): EarlierCommit[] {
  const last = new Map<string, EarlierCommit>()
  for (const commit of commits) last.set(contentOf(commit.id, STORE_PATHS, STORE_FILE), commit)
  return [...last.values()]
}

/**
 * Lets the server of a commit work on a new store and writes what it leaves to `file`. The sources
 * are those of the commit, the packages mostly those installed here; its models are made by its own
 * program, once for all commits that make the same ones.
 */
export async function makeStore(
  { id }: EarlierCommit,
  { file, models, database }: { file: string; models: string; database?: string | undefined },
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-commit-'))
  const checkout = join(folder, 'checkout')
  try {
    const archive = join(folder, 'archive.tar')
    git('archive', '--output', archive, id)
    await mkdir(checkout)
    await run('tar', ['-xf', archive, '-C', checkout])
    await installPackages(checkout, folder)
    await symlink(join(root, 'node_modules'), join(checkout, 'node_modules'))
    await installModels(checkout, join(models, contentOf(id, MODEL_PATHS)))
    const args = ['--checkout', checkout, ...(database ? ['--database', database] : []), file]
    await runNode(join(root, 'scripts/tests/test-tools/make-upgrade-fixture.ts'), args, checkout)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Installs what the commit uses and this one does not, in the folder around the checkout. */
async function installPackages(checkout: string, folder: string): Promise<void> {
  const text = await readFile(join(checkout, 'package.json'), 'utf8')
  const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> }
  const missing = Object.entries(dependencies)
    .filter(([name]) => !existsSync(join(root, 'node_modules', name)))
    .map(([name, version]) => `${name}@${version}`)
  if (missing.length === 0) return
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  await run('npm', ['install', '--prefix', folder, ...options, ...missing])
}

async function installModels(checkout: string, kept: string): Promise<void> {
  const folder = join(checkout, 'models')
  if (!existsSync(kept)) {
    await runNode(join(checkout, 'scripts/install-models.ts'), [], checkout)
    await mkdir(kept, { recursive: true })
    await cp(folder, kept, { recursive: true })
  } else await cp(kept, folder, { recursive: true })
}

async function runNode(script: string, args: readonly string[], cwd: string): Promise<void> {
  await run(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...args], { cwd })
}
