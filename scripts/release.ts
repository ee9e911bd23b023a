/**
 * `npm run release [-- --draft] [--no-install] [--tag TAG]`: checks and builds a release in
 * `build/release/`, and publishes nothing. See docs/releasing.md.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { moonshinePackage, vadPackage } from '../src/asr/model-files/bundled-packages.ts'
import { SAMPLE } from '../src/cli/server/start-message.ts'
import { describeLicenses, reportLicenses } from './release/licenses.ts'
import {
  nodePackage,
  type Platform,
  platforms,
  readPartsTable,
  runtimePlatforms,
} from './release/platforms.ts'
import { completeSbom, type Sbom } from './release/sbom.ts'
import { findVersionErrors, releaseNotes } from './release/versions.ts'

const HELP = `npm run release [-- OPTIONS]
Checks the tree, versions and licenses, then writes to build/release/: the npm package, a bill of materials
(CycloneDX), the licenses and checksums. Installs the package in a temporary folder and transcribes a recording
with it. Publishes nothing.

Options:
  --draft        goes on when the tree has changes or the changelog has no date
  --tag TAG      the tag of this release, which exists already
  --no-install   does not try the package`

const { values } = parseArgs({
  options: {
    draft: { type: 'boolean', default: false },
    tag: { type: 'string' },
    'no-install': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}

const root = join(import.meta.dirname, '..')
const folder = join(root, 'build/release')
const manifest = readJson('package.json')
const lock = readJson('package-lock.json')
const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')

checkTree()
const licenses = reportLicenses(lock.packages)
if (licenses.refused.length > 0) {
  console.error(describeLicenses({ ...licenses, accepted: [] }))
  fail('licenses that were not reviewed: scripts/release/licenses.ts')
}
console.log(`ok    ${licenses.accepted.length} packages with licenses that allow the release`)

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const files = [packPackage(), writeSbom(), write('licenses.txt', describeLicenses(licenses))]
if (!values['no-install']) {
  checkPlatforms()
  run('npm', 'publish', join(folder, files[0]!), '--dry-run', '--ignore-scripts')
  console.log('ok    npm would publish it')
  tryPackage(join(folder, files[0]!))
}
const sums = files.map((name) => `${sha256(join(folder, name))}  ${name}`)
write('SHA256SUMS', `${sums.join('\n')}\n`)
write('notes.md', releaseNotes(changelog))
console.log(`\n${sums.join('\n')}\n\nNothing was published. docs/releasing.md has the next steps.`)

/** Stops, or with --draft only warns, when the working tree is not ready for a release. */
function checkTree(): void {
  const changed = run('git', 'status', '--porcelain').trim()
  const tags = run('git', 'tag', '--list').split('\n')
  const problems = findVersionErrors({ manifest, lock, changelog, tags, tag: values.tag })
  if (changed) problems.unshift(`the tree has changes that are not committed:\n${changed}`)
  for (const problem of problems) console.error(`${values.draft ? 'draft' : 'fail '} ${problem}`)
  if (problems.length === 0) console.log(`ok    a clean tree of version ${manifest.version}`)
  else if (!values.draft) fail('not ready for a release')
}

/** Packs the package, and returns the name of the file. */
function packPackage(): string {
  run('npm', 'pack', '--pack-destination', folder)
  const name = `${manifest.name}-${manifest.version}.tgz`
  console.log(`ok    ${name}, ${(readFileSync(join(folder, name)).length / 1e6).toFixed(1)} MB`)
  return name
}

function writeSbom(): string {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  const sbom = completeSbom(JSON.parse(run('npm', ...args)) as Sbom, {
    name: manifest.name,
    shipped: licenses.accepted,
    models: [moonshinePackage, vadPackage],
    buildScript: readFileSync(join(root, 'src/audio/libav/wasm/build-libav.sh'), 'utf8'),
  })
  console.log(`ok    bill of materials with ${sbom.components.length} components`)
  const name = `${manifest.name}-${manifest.version}.cdx.json`
  return write(name, `${JSON.stringify(sbom, null, 2)}\n`)
}

/** Stops when the platforms in docs/installation.md differ from those in the registry. */
function checkPlatforms(): void {
  const page = readFileSync(join(root, 'docs/installation.md'), 'utf8')
  const found: Record<string, (version: string) => Platform[]> = {
    node: (version) => platforms.filter((one) => isPublished(nodePackage(one), version)),
    'onnxruntime-node': (version) => {
      const spec = `onnxruntime-node@${version}`
      const [packed] = Object.values<{ files: { path: string }[] }>(
        JSON.parse(run('npm', 'pack', '--dry-run', '--json', spec)),
      )
      return runtimePlatforms(packed!.files.map(({ path }) => path))
    },
  }
  const list = (all: readonly Platform[]) => all.map(({ title }) => title).join(', ')
  for (const { name, version, builds } of readPartsTable(page)) {
    const actual = found[name]?.(version)
    if (!actual || list(actual) === list(builds!)) continue
    fail(`docs/installation.md: ${name} ${version} has builds for ${list(actual)}`)
  }
  console.log('ok    the table of platforms is that of the registry')
}

function isPublished(name: string, version: string): boolean {
  const { status } = spawnSync('npm', ['view', `${name}@${version}`, 'version', '--json'], {
    shell: process.platform === 'win32',
  })
  return status === 0
}

/** Installs the package as a user would, in an empty folder, and transcribes a recording. */
function tryPackage(file: string): void {
  const prefix = mkdtempSync(join(tmpdir(), 'steno-release-'))
  try {
    const env = {
      ...process.env,
      XDG_CACHE_HOME: join(prefix, 'cache'),
      STENO_MODELS_DIR: '',
      // npm passes on the .npmrc of the checkout, which users do not have.
      npm_config_onnxruntime_node_install: undefined,
    }
    const shell = process.platform === 'win32'
    const options = ['--no-audit', '--no-fund', '--loglevel=error']
    const install = ['install', '-g', '--prefix', prefix, file, ...options]
    execFileSync('npm', install, { cwd: prefix, env, shell })
    const steno = join(prefix, process.platform === 'win32' ? 'steno.cmd' : 'bin/steno')
    const text = execFileSync(steno, ['transcribe', SAMPLE], { cwd: prefix, env, shell }).toString()
    if (!/ask what you can do for your country/i.test(text)) {
      fail(`the installed package wrote of a recording: ${text}`)
    }
    console.log('ok    the package, installed in an empty folder, transcribes a recording')
  } finally {
    rmSync(prefix, { recursive: true, force: true })
  }
}

function write(name: string, content: string): string {
  writeFileSync(join(folder, name), content)
  return name
}

/** Runs a program in the checkout and returns what it printed; its errors go to the terminal. */
function run(program: string, ...args: string[]): string {
  const shell = process.platform === 'win32'
  const options = { cwd: root, shell, maxBuffer: 1e8 }
  return execFileSync(program, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
  }).toString()
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

function readJson(name: string) {
  return JSON.parse(readFileSync(join(root, name), 'utf8'))
}

function fail(reason: string): never {
  console.error(`fail  ${reason}`)
  process.exit(1)
}
