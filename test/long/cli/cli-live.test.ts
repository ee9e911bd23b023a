import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { runHere } from '../../support/cli/run-here.ts'
import { runSteno, startSteno } from '../../support/cli/run-steno.ts'
import { type CuttingProxy, startProxy } from '../../support/net/cutting-proxy.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

/** Four seconds: two spans of speech with a pause between them. */
const SPEECH = join(import.meta.dirname, '../../fixtures/speech.wav')
const TWO_CHANNELS = join(import.meta.dirname, '../../fixtures/two-channels.wav')
const HEADER_BYTES = 44

let proxy: CuttingProxy
let server: TestServer
let folder: string
let env: Record<string, string>

before(async () => {
  // Sockets go through the proxy, requests do not.
  proxy = await startProxy('http://127.0.0.1:1')
  const settings = { STENO_PUBLIC_WS_BASE_URL: `ws://127.0.0.1:${proxy.port}` }
  server = await startServer({ env: settings })
  proxy.retarget(server.url)
  folder = await mkdtemp(join(tmpdir(), 'steno-cli-live-'))
  env = { STENO_URL: server.url, STENO_KEY: server.key }
})

after(async () => {
  await server.close()
  await proxy.close()
  await rm(folder, { recursive: true })
})

function live(args: readonly string[], input?: Uint8Array) {
  return runSteno(['live', ...args], { env, cwd: folder, ...(input && { input }) })
}

type Session = { id: string; status: string; file: { audio_duration: number } }

async function lastSession(): Promise<Session> {
  const { body } = await call<{ items: Session[] }>(server, '/v2/live?limit=1')
  return body.items[0]!
}

/** The sound that the server kept of the last session. */
async function recorded(): Promise<Buffer> {
  const { id } = await lastSession()
  const headers = { 'x-service-key': server.key }
  const response = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
  return Buffer.from(await response.arrayBuffer()).subarray(HEADER_BYTES)
}

test('steno live streams a file in real time, prints finals and reports latencies', async () => {
  const started = performance.now()
  const { code, stdout, stderr } = await live([SPEECH])
  assert.equal(stdout, 'hello world\nhello world\n')
  assert.match(stderr, /^sound: 4 s$/m)
  assert.match(stderr, /^first partial after speech starts: p50 \d+ ms, p95 \d+ ms \(2\)$/m)
  assert.match(stderr, /^final after speech ends: p50 \d+ ms, p95 \d+ ms \(2\)$/m)
  assert.match(stderr, /^audio stored: p50 \d+ ms, p99 \d+ ms \(40\)$/m)
  assert.equal(code, 0)
  assert.ok(performance.now() - started > 4000)
})

test('summary and answers follow the text, and missing models are reported', async () => {
  const asked = ['--summary', 'concise', '--ask', 'Who speaks?']
  const { code, stdout, stderr } = await live([SPEECH, '--fast', ...asked])
  assert.equal(code, 1)
  assert.match(stdout, /^hello world\nhello world\n\nSummary:\nhello world/)
  assert.match(stderr, /audio_to_llm.*STENO_LLM_URL/)
})

test('a result that cannot be written to its file is printed', {
  skip: process.platform !== 'linux' && 'needs /dev/full',
}, async () => {
  const { code, stdout, stderr } = await live([SPEECH, '--fast', '-o', '/dev/full'])
  assert.deepEqual([code, stdout], [1, 'hello world\nhello world\n'])
  assert.match(stderr, /^\S+: Cannot write \/dev\/full: the disk is full$/m)
  assert.match(stderr, /^sound: 4 s$/m)
})

test('--fast, --no-partials and numeric options reach the session', async () => {
  const options = ['--fast', '--no-partials', '--endpointing', '0.3', '--threshold', '0.4']
  const { code, stdout } = await live([SPEECH, ...options, '--language', 'en'])
  // With so much endpointing the pause does not end the utterance.
  assert.deepEqual([code, stdout], [0, 'hello world\n'])
  const { id } = await lastSession()
  const { body } = await call<{ request_params: Record<string, unknown> }>(server, `/v2/live/${id}`)
  const { endpointing, pre_processing, language_config, messages_config } = body.request_params
  assert.deepEqual(
    { endpointing, pre_processing, languages: language_config },
    {
      endpointing: 0.3,
      pre_processing: { audio_enhancer: false, speech_threshold: 0.4 },
      languages: { languages: ['en'], code_switching: false },
    },
  )
  const flags = messages_config as Record<string, boolean>
  assert.equal(flags.receive_partial_transcripts, false)
})

test('other formats are written at the end, to stdout or a file', async () => {
  const srt = await live([SPEECH, '--fast', '--format', 'srt'])
  assert.match(srt.stdout, /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nhello world\n\n2\n/)
  const json = await live([SPEECH, '--fast', '--format', 'json', '-o', 'deep/talk.json'])
  assert.deepEqual([json.stdout, json.code], ['', 0])
  const result = JSON.parse(await readFile(join(folder, 'deep/talk.json'), 'utf8'))
  assert.equal(result.metadata.audio_duration, 4)
  assert.equal(result.transcription.utterances.length, 2)
  assert.match(json.stderr, /^\S*speech\.wav: written to deep\/talk\.json$/m)
})

test('channels are recognized separately and named', async () => {
  const { stdout } = await live([TWO_CHANNELS, '--fast'])
  const lines = stdout.trim().split('\n')
  for (const channel of [1, 2]) assert.ok(lines.includes(`Channel ${channel}: hello world`), stdout)
})

test('standard input may be WAV or raw samples', async () => {
  const wav = await readFile(TWO_CHANNELS)
  const recognized = await live(['-'], wav)
  assert.match(recognized.stdout, /Channel 2: hello world/)
  assert.ok((await recorded()).equals(wav.subarray(wav.indexOf('data') + 8)))

  const samples = (await readFile(SPEECH)).subarray(HEADER_BYTES)
  const raw = await live(['-', '--rate', '8000', '--channels', '2'], samples)
  assert.match(raw.stdout, /Channel 2: hello world/)
  assert.equal((await lastSession()).file.audio_duration, 4)
  assert.ok((await recorded()).equals(samples))
})

test('other standard input is rejected with a remedy', async () => {
  const webm = '\x1aE\xdf\xa3\x8bB\x82\x84webm'
  for (const head of ['fLaC and more', webm, 'ID3\x04 and more']) {
    const file = await live(['-'], Buffer.from(head, 'latin1'))
    assert.match(file.stderr, /^steno live: Cannot stream standard input: .* give a file$/m)
    assert.equal(file.code, 1)
  }
  const header = Buffer.from((await readFile(SPEECH)).subarray(0, 100))
  header.writeUInt32LE(22_050, 24)
  const odd = await live(['-'], header)
  assert.match(odd.stderr, /^steno live: Cannot stream this WAV \(s16 at 22050 Hz\)/m)
  assert.equal(odd.code, 1)
})

test('--mic uses a recorder from the PATH, and names supported ones if none exists', async () => {
  const samples = (await readFile(SPEECH)).subarray(HEADER_BYTES)
  await writeFile(join(folder, 'sound.raw'), samples)
  const recorder = join(folder, 'parec')
  const [cat, audio] = ['/bin/cat', join(folder, 'sound.raw')]
  await writeFile(recorder, `#!/bin/sh\necho "$@" > ${folder}/args\nexec ${cat} ${audio}\n`)
  await chmod(recorder, 0o755)
  const withRecorder = { env: { ...env, PATH: `/nowhere:${folder}` } }
  const { code, stdout } = await runSteno(['live', '--mic'], withRecorder)
  assert.deepEqual([code, stdout], [0, 'hello world\nhello world\n'])
  assert.ok((await recorded()).equals(samples))
  assert.match(await readFile(join(folder, 'args'), 'utf8'), /--rate=16000 --channels=1/)

  await writeFile(recorder, '#!/bin/sh\necho "ALSA lib: noise\nno microphone" >&2\nexit 3\n')
  const broken = await runSteno(['live', '--mic'], withRecorder)
  assert.match(broken.stderr, /^steno live: Cannot record: no microphone$/m)
  const none = await runSteno(['live', '--mic'], { env: { ...env, PATH: '/nowhere' } })
  assert.match(none.stderr, /none of arecord, parec, pw-record, rec, ffmpeg is installed/)
  assert.deepEqual([broken.code, none.code], [1, 1])
})

test('a lost connection is resumed without lost or duplicate samples', async () => {
  const wav = await readFile(SPEECH)
  const cut = proxy.cutAfter(70_001, 'up')
  const { code, stdout, stderr } = await live([SPEECH])
  await cut
  assert.match(stderr, /^connection lost \(1006\), reconnecting$/m)
  assert.deepEqual([code, stdout], [0, 'hello world\nhello world\n'])
  assert.ok((await recorded()).equals(wav.subarray(HEADER_BYTES)))
})

test('Ctrl-C finishes the recording, with code 130 for a file and 0 for live input', async () => {
  const file = startSteno(['live', SPEECH], { env })
  const stream = startSteno(['live', '-'], { env })
  stream.stdin.write((await readFile(SPEECH)).subarray(0, 110_000))
  for (const { child, expected } of [
    { child: file, expected: 130 },
    { child: stream, expected: 0 },
  ]) {
    const [first] = await once(child.stdout, 'data')
    assert.equal(String(first), 'hello world\n')
    child.kill('SIGINT')
    const [code] = await once(child, 'close')
    assert.equal(code, expected)
  }
  const { body } = await call<{ items: Session[] }>(server, '/v2/live?limit=2')
  assert.deepEqual(
    body.items.map(({ status }) => status),
    ['done', 'done'],
  )
})

test('a refusal of the server is reported with code 1', async () => {
  const { code, stderr } = await live([SPEECH, '--language', 'de'])
  assert.match(stderr, /^steno live: Cannot transcribe the language/m)
  const missing = await live(['missing.wav'])
  assert.match(missing.stderr, /^steno live: Cannot open missing\.wav: the file does not exist$/m)
  assert.deepEqual([code, missing.code], [1, 1])
})

test('incorrect usage of steno live exits with code 2', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [[], /name one file, or - for standard input, or --mic/],
    [['a', 'b'], /name one file/],
    [['rtsp://x.test/a'], /steno transcribe fetches a recording; pipe a stream in: ffmpeg -i/],
    [['--mic', 'a'], /name one file/],
    [['-', '--fast'], /--fast is for files/],
    [['a.wav', '--rate', '8000'], /--rate and --channels are for raw samples/],
    [['-', '--rate', '22050'], /--rate must be one of: 16000, 8000/],
    [['-', '--channels', '9'], /--channels must be one of/],
    [['a', '--endpointing', '11'], /--endpointing must be a number from 0.01 to 10, not '11'/],
    [['a', '--threshold', ''], /--threshold must be a number from 0 to 1/],
    [['a', '--format', 'doc'], /--format must be one of/],
  ]
  for (const [args, message] of cases) {
    const { code, stderr } = await runHere(['live', ...args], env)
    assert.match(stderr, message)
    assert.equal(code, 2, args.join(' '))
  }
})

test('the end of a file is not an interruption, even under a parent process', async () => {
  const { code, stderr } = await runSteno(['live', SPEECH, '--fast'], { env, ipc: true })
  assert.equal(code, 0)
  assert.doesNotMatch(stderr, /Stopping/)
})
