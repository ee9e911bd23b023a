/**
 * Runs the tests: `npm test [-- PATTERN…]`, `npm run test:long [-- --rounds N] [PATTERN…]`. Several
 * test files share a process, so that its modules are loaded once; two processes more than there
 * are cores run at a time. The last lines count all tests; the exit code is 1 if one failed.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, styleText } from 'node:util'
import { bundleServer, SERVER_BUNDLE } from './test-tools/server-bundle.ts'
import {
  makePostgresFolder,
  removePostgres,
  SHARED_FOLDER,
  whyNoPostgres,
} from './test-tools/test-postgres.ts'

const HELP = `npm test [-- PATTERN…]
npm run test:long [-- --rounds N] [PATTERN…]

Options:
  --long         the tests of test/long: random kills, cuts, attacks, and texts of growing length
  --rounds N     repeat those so many times as often (default: 1, with --long 10)
  --seed N       where their random numbers begin (default: 1)
  --processes N  test processes at a time (default: two more than cores, since tests also wait)
  --files N      test files per process at most (default: 72, with --long 12); a third of them
                 where whole servers are tested
  --times        print the processor time of the 30 files that take most
PATTERN is a part of the path of a test file: live, src/text, long/live-cuts.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: String(availableParallelism() + 2) },
    files: { type: 'string' },
    times: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit()
}

/** The files that take longest run first, each in a process of its own. */
const LONGEST = [
  'test/long/samples/docs-m-to-z.test.ts',
  'test/long/samples/readme-and-guides.test.ts',
  'test/long/samples/docs-a-to-l.test.ts',
  'test/long/models/embedded-model.test.ts',
  'test/long/packages/clients.test.ts',
  'test/long/storage/servers-on-one-bucket.test.ts',
  'test/long/live/session-crash.test.ts',
]
/** Test files that take longer together have hung. */
const TIMEOUT_MS = 600_000 + (values.long ? 120_000 * Number(values.rounds ?? 10) : 0)

/** The fewest files of a process: its start and its modules take seconds. */
const MIN_FILES = 8

/** How long a process may take to name its hung tests. */
const REPORT_MS = 5000

/** The longest wait for the output of a process that has exited. */
const CLOSE_MS = 5000

/** While all cores run tests, garbage collection in separate threads costs a seventh more. */
const FLAGS = ['--disable-warning=ExperimentalWarning', '--single-threaded-gc']

const root = fileURLToPath(new URL('../..', import.meta.url))
/** The folder in which the first test that needs PostgreSQL starts the shared server. */
const postgresFolder = whyNoPostgres() ? undefined : makePostgresFolder()
const env = {
  ...process.env,
  ...(postgresFolder && { [SHARED_FOLDER]: postgresFolder }),
  ...(values.long && { [SERVER_BUNDLE]: await bundleServer() }),
  STENO_TEST_ROUNDS: values.rounds ?? (values.long ? '10' : '1'),
  STENO_TEST_SEED: values.seed,
  ...(values.times && { STENO_TEST_TIMES: 'true' }),
  // Test processes and the servers they start share compiled modules: a start takes half the time.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE || `${root}node_modules/.cache/compile`,
}

const files = await findFiles()
if (files.length === 0) {
  console.error(`No test file matches ${positionals.join(', ')}`)
  process.exit(2)
}
const counts = new Map<string, number>()
const failed: string[] = []
const details: string[] = []
const times: { seconds: number; line: string }[] = []
const startedAt = performance.now()
const children = new Set<ChildProcess>()
let isStopping = false
// At a limit of the whole run, too, each process names its hung tests.
process.once('SIGTERM', stop)
await Promise.all(Array.from({ length: Number(values.processes) }, runGroups))
if (postgresFolder) await removePostgres(postgresFolder)
summarize()
process.exitCode = failed.length > 0 ? 1 : 0

async function findFiles(): Promise<string[]> {
  const patterns = [
    'test/**/*.test.ts',
    'src/**/*.test.ts',
    'scripts/**/*.test.ts',
    'soak/**/*.test.ts',
    'bench/**/*.test.ts',
    'examples/**/*.test.ts',
  ]
  const all = await Array.fromAsync(glob(patterns, { cwd: root }))
  const named = all.sort().filter((file) => {
    return positionals.length === 0 || positionals.some((part) => file.includes(part))
  })
  const selectedFiles = named.filter((file) => file.startsWith('test/long/') === values.long)
  const longest = LONGEST.filter((file) => selectedFiles.includes(file))
  const others = selectedFiles.filter((file) => !longest.includes(file))
  return [
    ...longest,
    ...others.filter((file) => file.startsWith('test/')),
    ...others.filter((file) => !file.startsWith('test/')),
  ]
}

/**
 * Takes neighboring files that share a process. Whole-server tests come first, in smaller groups,
 * since they take longest. Towards the end groups get smaller, so that all processes end at about
 * the same time (guided self-scheduling, https://doi.org/10.1109/TC.1987.5009495).
 */
function takeGroup(files: string[]): string[] {
  if (LONGEST.includes(files[0]!)) return files.splice(0, 1)
  const isWholeServer = (file: string) => file.startsWith('test/')
  const most = Number(values.files ?? (values.long ? 12 : 72))
  const limit = isWholeServer(files[0]!) ? most / 3 : most
  const share = Math.ceil(files.length / Number(values.processes))
  const group = files.slice(0, Math.max(MIN_FILES, Math.min(limit, share)))
  const other = group.findIndex((file) => isWholeServer(file) !== isWholeServer(files[0]!))
  return files.splice(0, other < 0 ? group.length : other)
}

async function runGroups(): Promise<void> {
  while (files.length > 0 && !isStopping) await run(takeGroup(files))
}

function stop(): void {
  isStopping = true
  for (const child of children) child.kill()
}

/** Runs test files in one process, and prints its report when it ends. */
async function run(files: readonly string[]): Promise<void> {
  const script = `${root}scripts/tests/run-test-files.ts`
  const args = [...FLAGS, script, ...files]
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe']
  const child = spawn(process.execPath, args, { cwd: root, env, stdio, timeout: TIMEOUT_MS })
  const end = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS + REPORT_MS)
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  }
  const closed = once(child, 'close')
  const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(end)
  children.delete(child)
  const code = status ?? signal
  // A process that a test left behind may hold the streams open.
  await Promise.race([closed, delay(CLOSE_MS, undefined, { ref: false })])
  const [report, ...summary] = output.split(/^(?=ℹ (?:tests|suites|pass|fail|cancelled) )/m)
  for (const [, what, count] of summary.join('').matchAll(/^ℹ (\w+) (\d+)$/gm)) {
    counts.set(what!, (counts.get(what!) ?? 0) + Number(count))
  }
  for (const [, line, seconds] of output.matchAll(/⏱ (([\d.]+) .*)$/gm)) {
    times.push({ seconds: Number(seconds), line: line! })
  }
  process.stdout.write(report!)
  if (code === 0 && summary.length > 0) return
  const detail = summary.join('').split(/^✖ failing tests:$/m)[1] ?? ''
  const found = Array.from(detail.matchAll(/^test at (\S+?):\d/gm), ([, file]) => file!)
  failed.push(...(found.length > 0 ? new Set(found) : files))
  console.log(styleText('red', `✖ exit code ${code}: ${files.join(' ')}`))
  details.push(detail)
}

/** Prints the failures last, so that a truncated log contains them. */
function summarize(): void {
  const expensive = times.sort((a, b) => b.seconds - a.seconds).slice(0, 30)
  for (const { line } of expensive) console.log(`⏱ ${line}`)
  for (const detail of details) console.log(detail)
  if (failed.length > 0) console.log(`\n✖ failed in: ${failed.join(' ')}`)
  for (const what of ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo']) {
    console.log(`ℹ ${what} ${counts.get(what) ?? 0}`)
  }
  console.log(`ℹ duration_ms ${Math.round(performance.now() - startedAt)}`)
}
