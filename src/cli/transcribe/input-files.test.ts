import assert from 'node:assert/strict'
import promises, { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import {
  countBytes,
  expandFolders,
  findRecordingProblem,
  openRecording,
  type Recording,
  readRecording,
} from './input-files.ts'

test('an argument may be a file, a URL or standard input', () => {
  assert.deepEqual(readRecording('x/a.mp3'), { kind: 'file', name: 'a.mp3', path: 'x/a.mp3' })
  assert.deepEqual(readRecording('-'), { kind: 'stdin', name: 'stdin' })
  const url = 'https://x.test/y/b%20c.wav?d=e'
  assert.deepEqual(readRecording(url), { kind: 'url', name: 'b c.wav', url })
})

test('the name of a URL never contains slashes', () => {
  const name = (url: string) => readRecording(url).name
  assert.equal(name('https://x.test/a%2F..%2Fb'), 'a_.._b')
  assert.equal(name('https://x.test/100%.mp3'), '100%.mp3')
  assert.equal(name('https://x.test/'), 'x.test')
})

test('a missing file or a folder is reported in plain words', async () => {
  const open = (path: string) => openRecording({ kind: 'file', name: 'x', path }, new Readable())
  await assert.rejects(
    open('/no/such.mp3'),
    /^Error: Cannot open \/no\/such.mp3: the file does not exist/,
  )
  await assert.rejects(open('/'), /^Error: Cannot open \/: it is a folder$/)
  await assert.rejects(
    open('/no\n\u001b[2J'),
    /^Error: Cannot open \/no\?\?\[2J: the file does not exist/,
  )
  const inFile = /^Error: Cannot open \/dev\/null\/\?: a part of the path is not a folder$/
  await assert.rejects(open('/dev/null/\n'), inFile)
})

test('standard input cannot be opened a second time', async () => {
  const stdin = Readable.from([Buffer.from('ab')])
  const open = () => openRecording({ kind: 'stdin', name: 'stdin' }, stdin)
  assert.equal(await text((await open()).body), 'ab')
  await assert.rejects(open(), /^Error: Cannot send standard input again$/)
})

test('countBytes passes bytes through and reports the fraction', async () => {
  const seen: (number | null)[] = []
  const body = Readable.from([Buffer.from('ab'), Buffer.from('cd')])
  assert.equal(await text(countBytes({ body, size: 4 }, (f) => seen.push(f))), 'abcd')
  assert.deepEqual(seen, [0.5, 1])
})

test('a URL that is not http or https is rejected', () => {
  assert.throws(() => readRecording('ftp://x.test/a.mp3'), /^UsageError: .*only http and https/)
  assert.throws(
    () => readRecording('https://x y/a.mp3'),
    /^UsageError: .*it is not a valid address/,
  )
})

test('a folder expands to the recordings in it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const name of ['b.MP3', 'a.wav', 'd.MTS', 'notes.txt', 'e.mts', '._a.wav', 'f.caf'])
    await writeFile(join(folder, name), '')
  await mkdir(join(folder, 'c.wav'))
  const found = ['a.wav', 'b.MP3', 'd.MTS', 'f.caf'].map((name) => join(folder, name))
  assert.deepEqual(expandFolders(['x.mp3', folder]), ['x.mp3', ...found])
  assert.throws(
    () => expandFolders([join(folder, 'c.wav')]),
    /Cannot find a recording in the folder/,
  )
})

test('a file is found whose name is not UTF-8, unless two look the same', {
  skip: process.platform !== 'linux' && 'other systems refuse such names',
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const write = (name: string) => writeFile(Buffer.from(join(folder, name), 'latin1'), name)
  await write('caf\xe9.wav')
  const [path] = expandFolders([folder]) as [string]
  const open = () =>
    openRecording(readRecording(path) as Recording & { kind: 'file' }, new Readable())
  const { body, size } = await open()
  assert.deepEqual([await text(body), size], ['caf\xe9.wav', 9])
  await write('caf\xe8.wav')
  await assert.rejects(open(), /^Error: Cannot open .*caf\ufffd\.wav: its name is not UTF-8, and/)
})

test('a folder is found whose name is not UTF-8, and the files in it', {
  skip: process.platform !== 'linux' && 'other systems refuse such names',
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const inner = (name: string) => Buffer.from(join(folder, name), 'latin1')
  await mkdir(inner('\xe9t\xe9'))
  await writeFile(inner('\xe9t\xe9/caf\xe9.wav'), 'sound')
  const [path] = expandFolders([join(folder, '\ufffdt\ufffd')]) as [string]
  const recording = readRecording(path) as Recording & { kind: 'file' }
  const { body } = await openRecording(recording, new Readable())
  assert.equal(await text(body), 'sound')
})

test('a file that may not be read is reported before it is opened', async (t) => {
  const access = t.mock.method(promises, 'access', async () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
  })
  syncBuiltinESMExports()
  const problem = await findRecordingProblem(readRecording(import.meta.filename))
  assert.match(String(problem), /^Error: Cannot open \S+input-files\.test\.ts: permission denied$/)
  access.mock.restore()
  syncBuiltinESMExports()
})

test('a file that is lost after the check fails the one who reads it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const path = join(folder, 'a.wav')
  await writeFile(path, 'sound')
  const recording = readRecording(path) as Recording & { kind: 'file' }
  const { body } = await openRecording(recording, new Readable())
  await rm(path)
  await assert.rejects(text(body), { code: 'ENOENT' })
})
