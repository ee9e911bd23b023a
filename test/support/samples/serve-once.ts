// Starts a server of a sample, waits until it says that it listens, and ends it as Ctrl-C would. It
// gets a port of its own, and a data folder of its own unless the sample names one.
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'

const [program, ...args] = process.argv.slice(2)
const { SAMPLES_FOLDER = '', SAMPLES_DATA, STENO_DATA_DIR, ...env } = process.env
const folder =
  STENO_DATA_DIR === SAMPLES_DATA ? mkdtempSync(join(SAMPLES_FOLDER, '.data-')) : STENO_DATA_DIR
const freePort = args.map((arg) => arg.replace(/^[\d.]+:\d+$/, '127.0.0.1:0'))
const child = spawn(process.execPath, [program!, ...freePort], {
  env: { ...env, STENO_DATA_DIR: folder, STENO_PORT: '0', STENO_HOST: '127.0.0.1' },
  stdio: ['ignore', 'pipe', 'pipe'],
})
let output = ''
for (const stream of [child.stdout, child.stderr]) {
  stream.setEncoding('utf8').on('data', (text: string) => {
    output += text
    if (/listens on|may connect/.test(output)) child.kill('SIGINT')
  })
}
child.on('close', (code, signal) => {
  const isRight = /listens on|may connect/.test(output) && (code === 0 || code === 130 || signal)
  if (!isRight) process.stderr.write(output)
  process.exitCode = isRight ? 0 : 1
})
