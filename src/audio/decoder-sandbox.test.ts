import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { bareEnvironment } from './bare-environment.ts'
import { confine, findConfinement, type ProcessCommand } from './decoder-sandbox.ts'

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
function runConfined(code: string, folder: string, changed: Partial<typeof limits> = {}) {
  const program = { file: process.execPath, args: ['-e', code] }
  return run(confine(program, { limits: { ...limits, ...changed }, folder }))
}

async function run({ file, args }: ProcessCommand) {
  const child = spawn(file, args, { env: bareEnvironment(), stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  const [exitCode, signal] = await once(child, 'close')
  return { text, exitCode, signal }
}

test('a confined program reaches no network', {
  skip: !['files', 'network'].includes(confinement),
}, async (t) => {
  const server = createServer((socket) => socket.end('reached')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const code = `require('net').connect(${port}, '127.0.0.1').on('error', (e) => console.log(e.code)).on('data', String)`
  const { text } = await runConfined(code, temporaryFolder(t))
  assert.match(text, /^E(NETUNREACH|CONNREFUSED|ADDRNOTAVAIL|HOSTUNREACH)$/m)
})

test('a confined program writes to its own folder and nowhere else', {
  skip: confinement !== 'files',
}, async (t) => {
  const [own, other] = [temporaryFolder(t), temporaryFolder(t)]
  const write = (folder: string) => `
    try { fs.writeFileSync(${JSON.stringify(join(folder, 'file'))}, 'x'); console.log('written') }
    catch (error) { console.log(error.code) }`
  const { text } = await runConfined(write(own) + write(other), own)
  assert.deepEqual(text.trim().split('\n'), ['written', 'EROFS'])
  assert.deepEqual([readdirSync(own), readdirSync(other)], [['file'], []])
})

test('a file system that is unmounted just before the start does no harm', {
  skip: confinement !== 'files',
}, async (t) => {
  const [own, disk] = [temporaryFolder(t), temporaryFolder(t)]
  if (spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', disk]).status !== 0) {
    return t.skip('needs the right to mount a file system')
  }
  const program = { file: process.execPath, args: ['-e', 'console.log("started")'] }
  const command = confine(program, { limits, folder: own })
  spawnSync('umount', [disk])
  assert.deepEqual(await run(command), { text: 'started\n', exitCode: 0, signal: null })
})

test('memory beyond the limit is refused', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const code = `try { new Uint8Array(3e9); console.log('given') } catch { console.log('refused') }`
  const { text } = await runConfined(code, temporaryFolder(t), { dataBytes: 1.5e9 })
  assert.doesNotMatch(text, /given/)
})

test('processor time beyond the limit ends the program', {
  skip: confinement === 'none',
}, async (t) => {
  const { signal } = await runConfined('for (;;);', temporaryFolder(t), { cpuSeconds: 1 })
  assert.equal(signal, 'SIGXCPU')
})

test('without any means the program is started as it is', () => {
  const program = { file: 'node', args: ['-v'] }
  assert.deepEqual(confine(program, { limits, folder: undefined }, 'none'), program)
})
