/**
 * `npm run fuzz [-- NAME…] [--seconds N] [--seed N]`: gives damaged input to every reader of bytes
 * from outside, one process per target, N seconds in all. The same seed tries the same input.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'

/** The time that a target may take in addition, to start, to shrink a failure and to end. */
const GRACE_MS = 60_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '150' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    help: { type: 'boolean', default: false },
  },
})

const files = await Array.fromAsync(glob('targets/*/*.fuzz.ts', { cwd: import.meta.dirname }))
const targets = files
  .sort()
  .filter((file) => positionals.length === 0 || positionals.includes(basename(file, '.fuzz.ts')))
const help = `npm run fuzz [-- NAME…] [--seconds N] [--seed N]
Gives damaged input to every reader of bytes from outside, or to the targets named. The exit code is 1 when one fails.

Options:
  --seconds N  how long, all targets together (default: 150)
  --seed N     the same seed tries the same input (default: a new one, which is printed)

Targets: ${files.map((file) => basename(file, '.fuzz.ts')).join(', ')}`
if (values.help) {
  console.log(help)
  process.exit()
}
const seconds = Number(values.seconds) / targets.length
if (!(seconds > 0 && Number.isInteger(Number(values.seed)))) {
  console.error(help)
  process.exit(2)
}

/**
 * Runs a target, and returns whether it found nothing. A target that does not end hangs in a loop
 * and is killed.
 */
async function run(file: string): Promise<boolean> {
  const args = [join(import.meta.dirname, file), '--seconds', `${seconds}`, '--seed', values.seed]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: 'inherit',
    timeout: Math.ceil(seconds * 1000) + GRACE_MS,
    killSignal: 'SIGKILL',
  })
  const [code, signal] = await once(child, 'exit')
  if (signal) console.error(`${file} was ended by ${signal}: it hung or broke down`)
  return code === 0
}

for (const file of targets) {
  if (!(await run(file))) process.exitCode = 1
}
if (process.exitCode) console.error(`Repeat with: npm run fuzz -- --seed ${values.seed}`)
