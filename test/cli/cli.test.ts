import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import test, { after, before } from 'node:test'
import { runCommand } from '../../src/cli/commands.ts'
import { runHere } from '../support/cli/run-here.ts'
import { runSteno, SAMPLE } from '../support/cli/run-steno.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

let server: TestServer
let folder: string
let env: Record<string, string>
const cwd = process.cwd()

before(async () => {
  server = await startServer()
  folder = await mkdtemp(join(tmpdir(), 'steno-cli-'))
  env = { STENO_URL: server.url, STENO_KEY: server.key }
  process.chdir(folder)
})

after(async () => {
  process.chdir(cwd)
  await server.close()
  await rm(folder, { recursive: true })
})

function transcribe(...args: string[]) {
  return runHere(['transcribe', ...args], env)
}

test('steno transcribe prints the text, and its progress on stderr', async () => {
  const { code, stdout, stderr } = await runSteno(['transcribe', SAMPLE], { env })
  assert.match(stdout, /^(hello world.*\n)+$/)
  assert.match(stderr, /^jfk\.flac: uploading/)
  assert.equal(code, 0)
})

test('steno transcribe --format json prints the result object', async () => {
  const { stdout } = await transcribe(SAMPLE, '--format', 'json')
  const { metadata, transcription } = JSON.parse(stdout)
  assert.equal(Math.round(metadata.audio_duration), 11)
  assert.equal(transcription.utterances[0].words[0].word, 'hello')
})

test('steno transcribe --format srt and vtt print subtitles', async () => {
  const srt = await transcribe(SAMPLE, '--format', 'srt')
  const vtt = await transcribe(SAMPLE, '--format', 'vtt')
  assert.match(srt.stdout, /^1\n00:00:00,000 --> 00:00:\d\d,\d{3}\nhello world/)
  assert.match(vtt.stdout, /^WEBVTT\n\n00:00:00\.000 --> 00:00:\d\d\.\d{3}\nhello world/)
})

test('several recordings are printed in order under their names', async () => {
  const { code, stdout } = await transcribe(SAMPLE, SAMPLE)
  const heads = stdout.split('\n').filter((line) => line.startsWith('==>'))
  assert.deepEqual([heads, code], [['==> jfk.flac <==', '==> jfk.flac <=='], 0])
})

test('a failed recording is reported, others continue, and the exit code is 1', async () => {
  await writeFile(join(folder, 'broken.mp3'), 'this is no sound')
  const { code, stdout, stderr } = await transcribe('missing.mp3', 'broken.mp3', SAMPLE)
  assert.match(stderr, /^missing\.mp3: Cannot open missing\.mp3: the file does not exist$/m)
  assert.match(stderr, /^broken\.mp3: Cannot /m)
  assert.ok(stdout.startsWith(`==> jfk.flac <==\nhello world`))
  assert.equal(code, 1)
})

test('no server is contacted when no recording can be opened', async () => {
  const nobody = ['--server', 'http://127.0.0.1:9', '--key', 'none']
  const { code, stderr } = await transcribe('missing.mp3', 'other.mp3', ...nobody)
  assert.match(stderr, /^missing\.mp3: Cannot open missing\.mp3: the file does not exist$/m)
  assert.equal(code, 1)
})

test('a format that cannot hold a requested add-on says so', async () => {
  const { code, stderr } = await transcribe(SAMPLE, '--format', 'srt', '--summary', '--entities')
  const note = /^jfk\.flac: srt leaves out the summary, the entities: use --format txt or json$/m
  assert.match(stderr, note)
  assert.equal(code, 0)
  const whole = await transcribe(SAMPLE, '--json', '--summary', '--translate', 'en')
  const translated = await transcribe(SAMPLE, '--format=srt', '--translate=en', '-o', 'srt/')
  assert.doesNotMatch(whole.stderr + translated.stderr, /leaves out/)
})

test('--translate writes translated subtitles, and leaves out those that failed', async () => {
  const to = ['--translate', 'en,fr', '-o', 'translated/']
  const { code, stderr } = await transcribe(SAMPLE, '--subtitles', 'srt,vtt', ...to)
  const original = await readFile('translated/jfk.srt', 'utf8')
  assert.equal(await readFile('translated/jfk.en.srt', 'utf8'), original)
  const written = ['jfk.en.srt', 'jfk.en.vtt', 'jfk.srt', 'jfk.txt', 'jfk.vtt']
  assert.deepEqual((await readdir('translated')).sort(), written)
  assert.match(stderr, /the translation into fr failed/)
  assert.equal(code, 1)
})

test('-o writes a file, or one per recording into a folder', async () => {
  await copyFile(SAMPLE, join(folder, 'talk.flac'))
  await transcribe(SAMPLE, '-o', 'deep/one.txt')
  assert.match(await readFile(join(folder, 'deep/one.txt'), 'utf8'), /^hello world/)
  const { code, stdout } = await transcribe(SAMPLE, 'talk.flac', '-o', 'many', '--format', 'vtt')
  assert.deepEqual((await readdir(join(folder, 'many'))).sort(), ['jfk.vtt', 'talk.vtt'])
  assert.deepEqual([code, stdout], [0, ''])
})

test('a recording may be read from standard input', async () => {
  const { stdout } = await runSteno(['transcribe', '-'], { env, input: await readFile(SAMPLE) })
  assert.match(stdout, /^hello world/)
})

test('a recording may be a URL, which the server fetches', async () => {
  const { stdout } = await transcribe(SAMPLE, '--format', 'json')
  assert.ok(stdout.length > 0)
  const jobs = await runHere(['jobs', '--limit', '1'], env)
  const [id] = jobs.stdout.split(' ')
  // No upload's address, so it has to be fetched, without a key.
  const { code, stderr } = await transcribe(`${server.url}/v2/pre-recorded/${id}/file`)
  assert.match(stderr, /Cannot fetch the audio/)
  assert.equal(code, 1)
})

test('a recording in a language that the server cannot know is not uploaded', async () => {
  const { code, stderr } = await transcribe(SAMPLE, '--language', 'xx')
  assert.match(stderr, /^jfk\.flac: Cannot transcribe the language xx: the server supports en/m)
  assert.doesNotMatch(stderr, /uploading/)
  assert.equal(code, 1)
})

test('--language is passed on, and an unsupported one is reported', async () => {
  assert.equal((await transcribe(SAMPLE, '--language', 'en')).code, 0)
  const { code, stderr } = await transcribe(SAMPLE, '--language', 'de')
  assert.match(stderr, /^jfk\.flac: Cannot transcribe the language/m)
  assert.equal(code, 1)
})

test('steno jobs lists, shows and deletes', async () => {
  await transcribe(SAMPLE)
  const list = await runHere(['jobs', '--limit', '1'], env)
  const [, id] = /^(\S{36}) {2}done {8}\d{4}-\S+ +11 s {2}jfk\.flac\n$/.exec(list.stdout) ?? []
  assert.ok(id, list.stdout)
  const show = await runHere(['jobs', 'show', id], env)
  assert.equal(JSON.parse(show.stdout).id, id)
  const failed = await runHere(['jobs', '--status', 'error,queued'], env)
  assert.doesNotMatch(failed.stdout, / {2}done /)
  const tagged = await runHere(['jobs', '--metadata', '{"team":"red"}'], env)
  assert.deepEqual([tagged.stdout, tagged.code], ['', 0])
  for (const [option, value] of [
    ['--status', 'ended'],
    ['--metadata', '{bad'],
    ['--metadata', '[1]'],
  ] as const) {
    const wrong = await runHere(['jobs', option, value], env)
    assert.match(wrong.stderr, new RegExp(`^steno jobs: ${option} must be`))
    assert.equal(wrong.code, 2)
  }
  assert.equal((await runHere(['jobs', 'delete', id], env)).code, 0)
  const again = await runHere(['jobs', 'delete', id, id], env)
  assert.match(again.stderr, new RegExp(`^(${id}: Cannot find the job.*\\n){2}$`))
  assert.equal(again.code, 1)
  const elsewhere = await runHere(['jobs', 'delete', '..'], env)
  assert.deepEqual([elsewhere.stderr, elsewhere.code], ["..: '..' is not an ID\n", 1])
  const gone = await runHere(['jobs', 'show', id], env)
  assert.match(gone.stderr, /^steno jobs: Cannot find the job/)
  assert.equal(gone.code, 1)
})

test('names in lists and JSON do not change the direction of text', async () => {
  const name = 'rtl\u202egpj.flac'
  await copyFile(SAMPLE, join(folder, name))
  await transcribe(name)
  const list = await runHere(['jobs', '--limit', '1'], env)
  assert.match(list.stdout, / {2}rtl\?gpj\.flac\n$/)
  const [id] = list.stdout.split(' ')
  const show = await runHere(['jobs', 'show', id!], env)
  const search = () => runHere(['search', 'hello', '--limit', '1', '--json'], env)
  let found = await search()
  // The search index follows the jobs.
  while (!found.stdout.includes(id!)) found = await search()
  for (const { stdout } of [show, found]) assert.match(stdout, /"rtl\\u202egpj\.flac"/)
})

test('an interruption names the jobs that continue, or may', async (t) => {
  const stop = new AbortController()
  let unanswered = 0
  const stub = createServer(async (request, response) => {
    // The first job is created and then waited for; the request for the second has no response.
    if ((await text(request)).includes('first')) response.end('{"id":"job-1"}')
    else if (++unanswered === 2) stop.abort()
  }).listen(0, '127.0.0.1')
  t.after(() => stub.closeAllConnections())
  t.after(() => stub.close())
  await once(stub, 'listening')
  const url = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const recordings = ['http://a.example/first.mp3', 'http://a.example/second.mp3']
  const terminal = { env: { STENO_URL: url, STENO_KEY: 'k' }, stdin, stdout, stderr }
  const args = ['transcribe', ...recordings]
  assert.equal(await runCommand(args, { ...terminal, signal: stop.signal }), 130)
  const lines = String(stderr.read()).split('\n')
  assert.deepEqual(
    lines.filter((line) => line.includes('continue')),
    [
      'first.mp3: job job-1 continues; to stop it: steno jobs cancel job-1',
      'second.mp3: its job may continue; to find it: steno jobs',
    ],
  )
})

test('a wrong key is reported with the option to set it', async () => {
  const { code, stderr } = await runHere(['jobs', '--key', 'wrong'], env)
  assert.match(stderr, /^steno jobs: Cannot accept the key.*--key or STENO_KEY/)
  assert.equal(code, 1)
})

test('an unreachable server is reported with its address', async () => {
  const { code, stderr } = await transcribe(SAMPLE, '--server', 'http://127.0.0.1:1')
  assert.match(stderr, /^jfk\.flac: Cannot reach the server at http:\/\/127\.0\.0\.1:1: /m)
  assert.equal(code, 1)
})
