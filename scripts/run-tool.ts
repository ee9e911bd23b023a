/**
 * Runs a development tool of `tools/`, which `npm ci` leaves out because users need none (decision
 * 0127): `node scripts/run-tool.ts biome|tsc ARGUMENT…`. Installs the tools first if they are
 * missing or of other versions.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../tools')
const lockFile = join(folder, 'package-lock.json')
/** A copy of the lock file that was installed. */
const installedLockFile = join(folder, 'node_modules/installed-lock.json')
const programs: Record<string, string> = {
  biome: '@biomejs/biome/bin/biome',
  tsc: 'typescript/bin/tsc',
}

const [name = '', ...args] = process.argv.slice(2)
const program = programs[name]
if (!program) throw new Error(`Unknown tool: ${name}. Known: ${Object.keys(programs).join(', ')}`)
if (!isInstalled()) install()
const { status } = spawnSync(process.execPath, [join(folder, 'node_modules', program), ...args], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1

function isInstalled(): boolean {
  try {
    return readFileSync(installedLockFile).equals(readFileSync(lockFile))
  } catch {
    return false
  }
}

function install(): void {
  process.stderr.write('Installing the linter and the type checker (tools/)…\n')
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32', // There, npm is a command file.
  })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(installedLockFile, readFileSync(lockFile))
}
