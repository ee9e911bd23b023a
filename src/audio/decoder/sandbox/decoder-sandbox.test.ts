import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { bareEnvironment } from './bare-environment.ts'
import {
  type Confinement,
  candidateConfinements,
  confine,
  findConfinement,
  type ProcessCommand,
  signalOf,
} from './decoder-sandbox.ts'

const confinement = findConfinement()
const limits = {
  memoryBytes: 1e9,
  dataBytes: 1e9,
  cpuSeconds: 20,
  wallSeconds: 60,
  fileBytes: 1_000_000,
}

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno sandbox '))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/** Runs a Node program in the strongest confinement; returns its output, and how it ended. */
function runConfined(
  code: string,
  folder: string,
  changed: Partial<typeof limits> = {},
  confinement?: Confinement,
) {
  const program = { file: process.execPath, args: ['-e', code] }
  const bounds = { limits: { ...limits, ...changed }, input: undefined, folder }
  return run(confine(program, bounds, confinement))
}

const filesSkip = { skip: !['isolated', 'files'].includes(confinement) }
const isolatedSkip = { skip: confinement !== 'isolated' }

async function run({ file, args }: ProcessCommand) {
  const child = spawn(file, args, { env: bareEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const [exitCode, signal] = await once(child, 'close')
  return { text, exitCode, signal }
}

test('a confined program cannot reach the network', {
  skip: !['isolated', 'files', 'network'].includes(confinement),
}, async (t) => {
  const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const code = `require('net').connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code)).on('data', String)`
  const { text } = await runConfined(code, temporaryFolder(t))
  assert.match(text, /^E(NETUNREACH|CONNREFUSED|ADDRNOTAVAIL|HOSTUNREACH)$/m)
})

test('a confined program can write only to its own folder', filesSkip, async (t) => {
  const write = (folder: string) => `
    try { fs.writeFileSync(${JSON.stringify(join(folder, 'file'))}, 'x'); console.log('written') }
    catch (error) { console.log(error.code) }`
  for (const [level, code] of [
    [confinement, confinement === 'isolated' ? 'ENOENT' : 'EROFS'],
    ['files', 'EROFS'],
  ] as const) {
    const [scratch, other] = [temporaryFolder(t), temporaryFolder(t)]
    const { text } = await runConfined(write(scratch) + write(other), scratch, {}, level)
    assert.deepEqual(text.trim().split('\n'), ['written', code])
    assert.deepEqual([readdirSync(scratch), readdirSync(other)], [['file'], []])
  }
})

test(
  'an isolated program sees only its recording and the program files',
  isolatedSkip,
  async (t) => {
    const [data, scratch] = [temporaryFolder(t), temporaryFolder(t)]
    writeFileSync(join(data, 'steno.sqlite'), 'keys')
    writeFileSync(join(data, 'recording'), 'speech')
    const code = `
    const show = (look) => { try { console.log(String(look())) } catch (error) { console.log(error.code) } }
    show(() => fs.readFileSync(${JSON.stringify(join(data, 'recording'))}))
    show(() => fs.readdirSync(${JSON.stringify(data)}))
    show(() => fs.readdirSync(${JSON.stringify(scratch)}).length)
    show(() => fs.writeFileSync(${JSON.stringify(join(data, 'recording'))}, ''))
    show(() => fs.readFileSync('/etc/passwd'))
    show(() => fs.readdirSync('/proc'))
    show(() => fs.readdirSync('/').sort())`
    const program = { file: process.execPath, args: ['-e', code] }
    const visible = { input: join(data, 'recording'), folder: scratch }
    const { text } = await run(confine(program, { limits, ...visible }))
    const lines = text.trim().split('\n')
    assert.deepEqual(lines.slice(0, 6), ['speech', 'recording', '0', 'EROFS', 'ENOENT', 'ENOENT'])
    assert.doesNotMatch(lines[6]!, /home|root|proc|sys/)
  },
)

test('an isolated program sees no other process and cannot signal any', isolatedSkip, async (t) => {
  const code = `
    const kill = (pid) => { try { process.kill(pid, 0); return 'there' } catch (error) { return error.code } }
    console.log(process.pid, kill(${process.pid}), kill(${process.ppid}))`
  const { text } = await runConfined(code, temporaryFolder(t))
  assert.match(text, /^\d{1,2} ESRCH ESRCH$/m)
})

test('an isolated program has no privileges and cannot gain any', isolatedSkip, async (t) => {
  const code = `
    const { spawnSync } = require('child_process')
    const tries = [
      ['mount', '-t', 'tmpfs', 'tmpfs', '/usr'], ['umount', '/usr'], ['mount', '-o', 'remount,rw', '/usr'],
      ['chroot', '/usr', '/bin/true'], ['unshare', '--user', '--map-root-user', 'true'],
      ['setpriv', '--inh-caps=+sys_admin', 'true'], ['true'],
    ]
    for (const [name, ...args] of tries) {
      console.log(spawnSync('/usr/bin/env', ['PATH=/usr/bin:/usr/sbin', name, ...args]).status !== 0)
    }`
  const { text } = await runConfined(code, temporaryFolder(t))
  assert.deepEqual(text.trim().split('\n'), [...Array(6).fill('true'), 'false'])
})

test('an isolated program is killed with its launcher', isolatedSkip, async (t) => {
  const scratch = temporaryFolder(t)
  const code = `fs.writeFileSync(${JSON.stringify(join(scratch, 'started'))}, ''); setInterval(() => {}, 1000)`
  const program = { file: process.execPath, args: ['-e', code] }
  const { file, args } = confine(program, { limits, input: undefined, folder: scratch })
  const child = spawn(file, args, { env: bareEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] })
  while (readdirSync(scratch).length === 0) await delay(10)
  child.kill('SIGKILL')
  // Its output is open as long as it lives.
  await once(child.stdout.resume(), 'close')
})

test('a file system unmounted just before the start causes no failure', filesSkip, async (t) => {
  const [scratch, disk] = [temporaryFolder(t), temporaryFolder(t)]
  if (spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]).status !== 0) {
    return t.skip('needs the right to mount a file system')
  }
  const program = { file: process.execPath, args: ['-e', 'console.log("started")'] }
  const command = confine(program, { limits, input: undefined, folder: scratch }, 'files')
  spawnSync('umount', [disk])
  assert.deepEqual(await run(command), { text: 'started\n', exitCode: 0, signal: null })
})

test('allocating memory beyond the limit fails', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const code = `try { new Uint8Array(3e9); console.log('given') } catch { console.log('refused') }`
  const { text } = await runConfined(code, temporaryFolder(t), { dataBytes: 1.5e9 })
  assert.doesNotMatch(text, /given/)
})

test('exceeding the processor time limit ends the program', {
  skip: confinement === 'none',
}, async (t) => {
  const run = runConfined('for (;;);', temporaryFolder(t), { cpuSeconds: 1 })
  const { exitCode, signal } = await run
  assert.equal(signal ?? signalOf(exitCode), 'SIGXCPU')
})

test('without a sandbox the program is started directly', () => {
  const program = { file: 'node', args: ['-v'] }
  assert.deepEqual(
    confine(program, { limits, input: undefined, folder: undefined }, 'none'),
    program,
  )
})

test('sandbox levels are tried on Linux, only limits on macOS, none on Windows', () => {
  assert.deepEqual(candidateConfinements('linux'), ['isolated', 'files', 'network', 'limits'])
  assert.deepEqual(candidateConfinements('darwin'), ['limits'])
  assert.deepEqual(candidateConfinements('win32'), [])
})
