// Installs the third-party clients that tests run: node
// scripts/tests/test-tools/install-test-clients.ts They go to steno/test-clients in the user's
// cache folder. What is there already is not installed again; one part that cannot be installed
// does not keep the others out. Python clients need Python 3.12 or 3.13 with pip.

import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import {
  type ClientPart,
  type ClientSet,
  clientFolder,
  pythonNeeds,
  testClients,
} from './test-clients.ts'

/** A registry that takes longer counts as out of reach. */
const TIMEOUT_MS = 85_000

const run = promisify(execFile)
const signal = AbortSignal.timeout(TIMEOUT_MS)
const done = await Promise.allSettled([installNpm(), installPython()])
for (const result of done) {
  if (result.status === 'fulfilled') continue
  const { stderr, message } = result.reason as { stderr?: string; message: string }
  console.error(signal.aborted ? 'The registries answer too slowly' : stderr || message)
  process.exitCode = 1
}

async function installNpm(): Promise<void> {
  const retries = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000']
  const quiet = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error']
  const flags = ['--ignore-scripts', ...quiet, ...retries]
  for (const set of ['newest', 'previous'] as const) {
    await provide(`npm-${set}`, async (folder) => {
      // The clients of OpenAI expect it beside them.
      const packages = [...pins('npm', set, '@'), 'ws@8.23.0']
      await writeFile(join(folder, 'package.json'), '{"private":true}')
      await run('npm', ['install', ...flags, '--prefix', folder, ...packages], { signal })
    })
  }
}

async function installPython(): Promise<void> {
  const quiet = ['--disable-pip-version-check', '--quiet', '--retries', '1']
  const flags = ['--no-deps', '--no-compile', '--prefer-binary', ...quiet]
  await provide('python-newest', async (folder) => {
    const python = await findPython()
    await run(python, ['-m', 'venv', '--without-pip', folder], { signal })
    const into = ['-m', 'pip', '--python', join(folder, 'bin', 'python'), 'install', ...flags]
    await run(python, [...into, ...pythonNeeds, ...pins('python', 'newest', '==')], { signal })
  })
  await provide('python-previous', async (folder) => {
    const python = await findPython()
    const into = ['-m', 'pip', 'install', ...flags, '--target', folder]
    await run(python, [...into, ...pins('python', 'previous', '==')], { signal })
  })
}

function pins(registry: 'npm' | 'python', set: ClientSet, separator: string): string[] {
  return Object.entries(testClients[registry][set]).map((pin) => pin.join(separator))
}

/** Fills a folder beside its place, and moves it there when it is complete. */
async function provide(part: ClientPart, fill: (folder: string) => Promise<void>): Promise<void> {
  const folder = clientFolder(part)
  if (existsSync(folder)) return
  await mkdir(dirname(folder), { recursive: true })
  const work = await mkdtemp(join(dirname(folder), `.${part}-`))
  try {
    await fill(work)
    await rename(work, folder)
    console.log(`${part} is now in ${folder}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Finds a Python that the clients support, those of pyenv included. */
async function findPython(): Promise<string> {
  const pyenv = globSync('.pyenv/versions/3.1[23].*/bin/python3', { cwd: homedir() })
  const names = ['python3.13', 'python3.12', 'python3', ...pyenv.map((one) => join(homedir(), one))]
  const question = 'import sys, pip; sys.exit(sys.version_info[:2] not in [(3, 12), (3, 13)])'
  for (const name of names) {
    const isUsable = await run(name, ['-c', question], { signal }).then(
      () => true,
      () => false,
    )
    if (isUsable) return name
  }
  throw new Error('No Python 3.12 or 3.13 with pip was found')
}
