import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { runHere } from '../support/cli/run-here.ts'
import { runSteno, SAMPLE, startSteno } from '../support/cli/run-steno.ts'

// These tests run the program as it is, with the real models; some commands need no process.

/** A port of its own, and one process with the models of recordings. */
const quick = { STENO_PORT: '0', STENO_WORKERS: '1', STENO_LIVE_SLOTS: '0' }

/** A folder that goes away with the test. */
function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-serve-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a server and resolves to what it prints once it listens. */
async function serve(t: TestContext, env: Record<string, string>, { ipc = false } = {}) {
  const child = startSteno(['serve'], { env: { ...quick, ...env }, ipc })
  t.after(() => child.kill('SIGKILL'))
  const logs = text(child.stderr)
  const printed: string[] = []
  for await (const line of createInterface(child.stdout)) {
    printed.push(line)
    if (line.includes('full_transcript')) break
  }
  const url = /http:\S+/.exec(printed[0] ?? '')?.[0] ?? ''
  async function stop(signal: NodeJS.Signals) {
    child.kill(signal)
    const [code] = await once(child, 'close')
    return { code, logs: await logs }
  }
  return { child, url, output: printed.join('\n'), stop }
}

function hasCurl(): boolean {
  try {
    execFileSync('curl', ['--version'])
    return true
  } catch {
    return false
  }
}

test('the first start prints the URL, a lasting key and a sample request', {
  skip: !hasCurl() && 'curl is not installed',
}, async (t) => {
  const env = { STENO_DATA_DIR: makeFolder(t) }
  const { output, stop } = await serve(t, env)
  const request = output.slice(output.indexOf('export STENO_KEY='))
  const { stdout } = await promisify(execFile)('sh', ['-c', request])
  assert.match(
    stdout,
    /^And so,? my fellow Americans.* ask what you can do for your country\.?\n$/i,
  )
  const [, key] = /shown only once: (steno_\S{43})$/m.exec(output) ?? []
  assert.ok(key)
  const { code, logs } = await stop('SIGTERM')
  assert.equal(code, 0)
  assert.match(logs, /"confinement":"(isolated|files|network|limits|none)"/)
  assert.equal(logs.includes('run as root'), process.getuid?.() === 0)
  const second = await serve(t, env, { ipc: true })
  assert.ok(!second.output.includes(key) && !logs.includes(key))
  assert.match(second.output, /^The keys were shown when they were created\. .*steno keys create/m)
  const headers = { 'x-service-key': key }
  assert.equal((await fetch(`${second.url}/v2/pre-recorded`, { headers })).status, 200)
  second.child.disconnect()
  const [ended] = await once(second.child, 'exit')
  assert.equal(ended, 0)
})

test('with a configured key the start prints none, logs JSON and locks the folder', async (t) => {
  const env = { STENO_DATA_DIR: makeFolder(t), STENO_API_KEYS: 'me:secret-key', STENO_PROT: '1' }
  const { output, stop } = await serve(t, env)
  const other = await runSteno(['serve'], { env: { ...quick, ...env } })
  assert.match(other.stderr, /^steno serve: Cannot open the data folder: another server is using/m)
  assert.equal(other.code, 1)
  const { code, logs } = await stop('SIGINT')
  const messages = logs
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
  assert.ok(messages.includes('unknown setting ignored') && messages.includes('stopped'))
  assert.ok(!`${output}${logs}`.includes('secret-key'))
  assert.equal(code, 0)
})

test('a server continues when nobody reads its output', async (t) => {
  const env = { ...quick, STENO_DATA_DIR: makeFolder(t) }
  const child = startSteno(['serve'], { env })
  t.after(() => child.kill('SIGKILL'))
  child.stdout.destroy()
  const messages: string[] = []
  for await (const line of createInterface(child.stderr)) {
    const { msg } = JSON.parse(line)
    messages.push(msg)
    if (msg.startsWith('Server listening')) child.kill('SIGTERM')
  }
  assert.equal(messages.at(-1), 'stopped')
})

test('a failed start prints the reason', async (t) => {
  const busy = createServer().listen(0, '127.0.0.1')
  t.after(() => busy.close())
  await once(busy, 'listening')
  const { port } = busy.address() as { port: number }
  const folder = makeFolder(t)
  const file = join(folder, 'file')
  writeFileSync(file, '', { mode: 0o700 })
  const cases: [env: Record<string, string>, message: RegExp][] = [
    [
      { STENO_PORT: String(port) },
      /^steno serve: Cannot listen on .*: the port is in use; .*PORT$/m,
    ],
    [{ STENO_HOST: '192.0.2.1' }, /^steno serve: Cannot listen on .*: this machine has no such/m],
    [
      { STENO_MODELS_DIR: folder },
      /^steno serve: Cannot find the speech models in .* \(STENO_MODELS_DIR\): .*run 'npm run/m,
    ],
    [
      { STENO_DATA_DIR: file },
      /^steno serve: Cannot start: data folder \S+file cannot be written/m,
    ],
    [{ STENO_DATA_DIR: join(file, 'data') }, /^steno serve: Cannot start: data folder .* written/m],
    [
      { STENO_DATA_DIR: join(folder, 'a'.repeat(300)) },
      /^steno serve: Cannot start: data folder \S+a{300} cannot be written/m,
    ],
  ]
  for (const [env, message] of cases) {
    const defaults = { ...quick, STENO_DATA_DIR: join(folder, 'data') }
    const { code, stderr } = await runHere(['serve'], { ...defaults, ...env })
    assert.match(stderr, message)
    assert.equal(code, 1)
    assert.deepEqual(readdirSync(folder), ['file'], 'it leaves nothing behind')
  }
})

test('steno transcribe runs without a server or rate limit and cleans up', {
  // With the limit, its four requests or more would take three minutes.
  timeout: 120_000,
}, async (t) => {
  const folder = makeFolder(t)
  const env = { TMPDIR: folder, STENO_RATE_LIMIT: '1/1', STENO_WORKERS: '1' }
  const { code, stdout, stderr } = await runSteno(['transcribe', SAMPLE], { env })
  assert.match(stdout, /^And so,? my fellow Americans/)
  assert.doesNotMatch(stderr, /upload/)
  assert.deepEqual([code, readdirSync(folder)], [0, []])
})

test('interrupting steno transcribe stops its private server', async (t) => {
  const folder = makeFolder(t)
  const child = startSteno(['transcribe', '-'], { env: { TMPDIR: folder, STENO_WORKERS: '1' } })
  t.after(() => child.kill('SIGKILL'))
  for await (const line of createInterface(child.stderr)) if (line.startsWith('stdin')) break
  assert.equal(readdirSync(folder).length, 1)
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  assert.deepEqual([code, readdirSync(folder)], [130, []])
})

test('steno doctor reports no failure on a working installation', async (t) => {
  const env = { ...quick, STENO_DATA_DIR: makeFolder(t) }
  const { code, stdout } = await runHere(['doctor'], env)
  assert.deepEqual([stdout.match(/^fail.*/gm), code], [null, 0], stdout)
  assert.match(stdout, /^ok {4}recognition: models loaded and one second recognized/m)
  assert.match(stdout, /^(ok {2}|warn) {2}decoders have /m)
  assert.match(stdout, process.getuid?.() === 0 ? /^warn {2}run as root/m : /^ok {4}run by a user/m)
})

test('steno doctor reports problems with remedies', async (t) => {
  const env = { STENO_MODELS_DIR: makeFolder(t), STENO_PROT: '1', STENO_WORKERS: 'two' }
  const { code, stdout } = await runHere(['doctor'], env)
  assert.match(stdout, /^warn {2}STENO_PROT is not a setting/m)
  assert.match(stdout, /^fail {2}STENO_WORKERS must be an integer/m)
  assert.equal(code, 1)
})

test('steno doctor reports missing models once', async (t) => {
  const env = { STENO_MODELS_DIR: makeFolder(t), STENO_DATA_DIR: makeFolder(t), STENO_PORT: '0' }
  const { code, stdout } = await runHere(['doctor'], env)
  assert.deepEqual([stdout.match(/^fail/gm)?.length, code], [1, 1], stdout)
})
