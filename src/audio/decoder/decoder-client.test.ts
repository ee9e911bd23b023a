import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { probeMedia } from '../probe-media.ts'
import { runDecoder } from './decoder-client.ts'

/** 16-bit mono samples at 44.1 kHz, whose length is that of the file. */
const wavHeader = Buffer.from(
  'RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\xff\xff\xff\xff',
  'latin1',
)

const fixture = fileURLToPath(new URL('../../../test/fixtures/speech.wav', import.meta.url))
const never = new AbortController().signal
const unixOnly = { skip: process.platform === 'win32', timeout: 120_000 }

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

/**
 * A pipe that nobody writes to: opening it blocks in the system, as a decoder might in native code.
 */
function hangingFile(t: TestContext): string {
  const path = join(temporaryFolder(t), 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

const probe = (file: string) => ({ task: 'probe' as const, file, nameHint: undefined })

/** Decoders that an earlier test file in this process has left idle; they end by themselves. */
const earlier = new Set<number>()
before(() => {
  for (const pid of decodersOf(process.pid)) earlier.add(pid)
})

/** Processes whose command line names the decoder and whose parent is `parent`. */
function decodersOf(parent: number | undefined): number[] {
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
  return table.split('\n').flatMap((line) => {
    const [, pid, ppid, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    const isDecoder = Number(ppid) === parent && args?.includes('decoder-process')
    return isDecoder && !earlier.has(Number(pid)) ? [Number(pid)] : []
  })
}

async function waitFor<T>(find: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = find()
    if (found) return found
    await setTimeout(20)
  }
}

/** Hours of silence: the header, and a sparse file for the samples. */
function hoursFile(folder: string): string {
  const file = join(folder, 'hours.wav')
  writeFileSync(file, wavHeader)
  truncateSync(file, 1e9)
  return file
}

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Memory that a process and its descendants do not share with others. */
function ownBytes(pid: number): number {
  const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const below = children.filter(Boolean).reduce((sum, child) => sum + ownBytes(Number(child)), 0)
  return (Number(resident) - Number(shared)) * 4096 + below
}

const nameOf = (variable: string) => variable.split('=')[0]!

test('an aborted decoder is killed and the reason passed on', unixOnly, async (t) => {
  const controller = new AbortController()
  const running = runDecoder(probe(hangingFile(t)), { signal: controller.signal })
  const pid = await waitFor(() => decodersOf(process.pid)[0])
  controller.abort(new Error('job deleted'))
  await assert.rejects(running, /job deleted/)
  assert.equal(isAlive(pid), false)
})

test('a decoder that shows no progress is killed', unixOnly, async (t) => {
  const running = runDecoder(probe(hangingFile(t)), { signal: never, timeout: 1 })
  await assert.rejects(running, { code: 'media_undecodable', message: /hung for 1 s/ })
})

test('a native crash is blamed on the file, and other exits are not', unixOnly, async (t) => {
  for (const [signal, code] of [
    ['SIGSEGV', 'media_undecodable'],
    ['SIGKILL', 'engine_failed'],
  ] as const) {
    const running = runDecoder(probe(hangingFile(t)), { signal: never })
    const rejected = assert.rejects(running, { code, message: new RegExp(signal) })
    const pid = await waitFor(() => decodersOf(process.pid)[0])
    process.kill(pid, signal)
    await rejected
  }
})

test('a probe whose decoder is killed is repeated once', unixOnly, async (t) => {
  const file = hangingFile(t)
  const killNext = async (before?: number) => {
    const pid = await waitFor(() => decodersOf(process.pid).find((one) => one !== before))
    process.kill(pid, 'SIGKILL')
    return pid
  }
  const rejected = assert.rejects(probeMedia(file, { signal: never }), { code: 'engine_failed' })
  await killNext(await killNext())
  await rejected
  const probing = probeMedia(file, { signal: never })
  const pid = await waitFor(() => decodersOf(process.pid)[0])
  copyFileSync(fixture, `${file}.wav`)
  renameSync(`${file}.wav`, file)
  process.kill(pid, 'SIGKILL')
  assert.equal((await probing).channels, 1)
})

test('a decoder that exceeds its limits is killed, as the fault of the file', {
  ...unixOnly,
  skip: process.platform !== 'linux',
}, async (t) => {
  const folder = temporaryFolder(t)
  const decode = {
    task: 'decode' as const,
    file: hoursFile(folder),
    nameHint: undefined,
    folder,
    maxSeconds: 1e6,
  }
  const hanging = probe(hangingFile(t))
  for (const [request, limits, message] of [
    [hanging, { memoryBytes: 1e7 }, /more than 10 MB of memory/],
    [hanging, { wallSeconds: 1 }, /took more than 1 s/],
    [decode, { cpuSeconds: 1 }, /worked for more than 1 s/],
  ] as const) {
    const running = runDecoder(request, { signal: never, limits })
    await assert.rejects(running, { code: 'media_undecodable', message })
  }
  // The system rejects the rest of the file.
  const running = runDecoder(decode, { signal: never, limits: { fileBytes: 1e6 } })
  await assert.rejects(running, { code: /media_undecodable|storage_full/ })
})

test('a decoder killed from outside is blamed for memory only if it used much', {
  ...unixOnly,
  skip: process.platform !== 'linux',
}, async (t) => {
  // A decoder that has to compile its modules takes 32 MB before it opens the file, not 12.
  const { NODE_COMPILE_CACHE } = process.env
  delete process.env.NODE_COMPILE_CACHE
  t.after(() => Object.assign(process.env, NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }))
  const limits = { memoryBytes: 50e6 }
  const running = runDecoder(probe(hangingFile(t)), { signal: never, limits })
  const rejected = assert.rejects(running, { code: 'media_undecodable', message: /of memory/ })
  const pid = await waitFor(() => decodersOf(process.pid)[0])
  await waitFor(() => ownBytes(pid) > 27e6)
  await setTimeout(150)
  process.kill(pid, 'SIGKILL')
  await rejected
})

test('the decoder process does not inherit the server’s settings', {
  ...unixOnly,
  skip: process.platform !== 'linux',
}, async (t) => {
  process.env.STENO_API_KEYS = 'account:a-secret'
  t.after(() => delete process.env.STENO_API_KEYS)
  const controller = new AbortController()
  const running = runDecoder(probe(hangingFile(t)), { signal: controller.signal })
  const pid = await waitFor(() => decodersOf(process.pid)[0])
  const names = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').map(nameOf)
  controller.abort(new Error('seen'))
  await assert.rejects(running, /seen/)
  const known =
    /^(NODE_CHANNEL_(FD|SERIALIZATION_MODE)|NODE_COMPILE_CACHE|PATH|PWD|OLDPWD|SHLVL|_|LD_LIBRARY_PATH|)$/
  assert.deepEqual(
    names.filter((name) => !known.test(name)),
    [],
  )
})

test('a decoder dies with the process that started it', unixOnly, async (t) => {
  const folder = temporaryFolder(t)
  const file = hoursFile(folder)
  const request = { task: 'decode', file, folder, maxSeconds: 1e6 }
  const script = `
    import { runDecoder } from ${JSON.stringify(new URL('./decoder-client.ts', import.meta.url).href)}
    await runDecoder(${JSON.stringify(request)}, { signal: new AbortController().signal })`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' })
  const decoder = await waitFor(() => decodersOf(parent.pid)[0])
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  await waitFor(() => !isAlive(decoder))
})
