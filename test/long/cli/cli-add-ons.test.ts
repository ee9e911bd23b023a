import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { runSteno, SAMPLE } from '../../support/cli/run-steno.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

const SAID = 'I love this, mister Smith. My name is Lena. Where is the acme report? it is terrible.'

let server: TestServer
let folder: string
let env: Record<string, string>

before(async () => {
  server = await startServer({ speech: createFakeSpeechEngine(SAID) })
  folder = await mkdtemp(join(tmpdir(), 'steno-cli-'))
  env = { STENO_URL: server.url, STENO_KEY: server.key }
  await copyFile(SAMPLE, join(folder, 'talk.flac'))
})

after(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

function transcribe(...args: string[]) {
  return runSteno(['transcribe', ...args], { env, cwd: folder })
}

function read(name: string): Promise<string> {
  return readFile(join(folder, name), 'utf8')
}

test('--subtitles writes files beside the recording, and the text to stdout', async () => {
  await writeFile(join(folder, 'talk.vtt'), 'of an earlier call')
  const requested = ['talk.flac', '--subtitles', 'srt,vtt']
  const refused = await transcribe(...requested)
  assert.match(refused.stderr, /talk\.vtt already exists: add --overwrite to replace it/)
  assert.equal(await read('talk.vtt'), 'of an earlier call')
  const { code, stdout, stderr } = await transcribe(...requested, '--overwrite')
  assert.match(await read('talk.srt'), /^1\n00:00:00,000 --> /)
  assert.match(await read('talk.vtt'), /^WEBVTT\n/)
  assert.match(stderr, /^talk\.flac: written to talk\.srt\ntalk\.flac: written to talk\.vtt$/m)
  assert.match(
    stdout,
    /^I love this, mister Smith\. My name is Lena\. Where is the acme report\? It is terrible\./,
  )
  assert.equal(code, 0)
})

test('--subtitles with -o writes beside the output in the requested style', async () => {
  const style = ['--subtitles', 'srt', '--subtitle-style', 'compliance']
  const { code } = await transcribe('talk.flac', '-o', 'out/', ...style)
  assert.deepEqual((await readdir(join(folder, 'out'))).sort(), ['talk.srt', 'talk.txt'])
  assert.match(await read('out/talk.srt'), /^1\r\n/)
  assert.equal(code, 0)
})

test('--format srt uses the requested style', async () => {
  const { stdout } = await transcribe(
    'talk.flac',
    '--format',
    'srt',
    '--subtitle-style',
    'compliance',
  )
  assert.match(stdout, /^1\r\n00:00:00,000 --> /)
})

test('add-on results are printed below the text', async () => {
  const requested = ['--sentences', '--punctuation', '--summary', '--entities', '--sentiment']
  const { code, stdout, stderr } = await transcribe('talk.flac', ...requested)
  assert.match(
    stdout,
    /^I love this, mister Smith\.\nMy name is Lena\.\nWhere is the acme report\?\nIt is terrible\.\n/,
  )
  assert.match(stdout, /\n\nSummary:\n(.+\n)+\nEntities:\nstart +type +text\n/)
  assert.match(stdout, /\n0:0\d\.\d +NAME_GIVEN +Lena\n/)
  assert.match(
    stdout,
    /\n\nSentiment:\n(.+\n)*0:00\.0 +positive +\w+ +I love this, mister Smith\.\n/,
  )
  assert.deepEqual([code, /Cannot/.test(stderr)], [0, false])
})

test('--json prints the whole result', async () => {
  const requested = ['--json', '--summary', 'concise', '--subtitles', 'srt', '-o', 'json/']
  await transcribe('talk.flac', ...requested)
  const result = JSON.parse(await read('json/talk.json'))
  assert.equal(result.summarization.success, true)
  assert.equal(result.transcription.subtitles[0].subtitles, await read('json/talk.srt'))
})

test('--vocabulary and --spelling change the words', async () => {
  await mkdir(join(folder, 'lists'))
  const entry = { value: 'Akmee', pronunciations: ['acme'] }
  await writeFile(join(folder, 'lists/names.json'), JSON.stringify([entry]))
  await writeFile(join(folder, 'lists/spelling.json'), JSON.stringify({ Mr: ['mister'] }))
  const readonly = ['--vocabulary', 'lists/names.json', '--spelling', 'lists/spelling.json']
  const { code, stdout } = await transcribe('talk.flac', ...readonly)
  assert.match(stdout, /^I love this, Mr Smith\. My name is Lena\. Where is the Akmee report\?/)
  assert.equal(code, 0)
})

test('invalid options are reported before anything is sent', async () => {
  await writeFile(join(folder, 'bad.json'), '["Kubernetes", {"valu": "x"}]')
  const jobs = () => runSteno(['jobs'], { env })
  const before = await jobs()
  const { code, stderr } = await transcribe('talk.flac', '--vocabulary', 'bad.json')
  assert.match(stderr, /^steno transcribe: bad\.json: entry 2: 'value' must be a text\n/)
  assert.doesNotMatch(stderr, /upload/)
  assert.deepEqual([code, (await jobs()).stdout], [2, before.stdout])
})

test('--redact removes names from the text and the subtitles', async () => {
  const requested = [
    '--redact',
    'names',
    '--redact-mode',
    'mask',
    '--subtitles',
    'srt',
    '-o',
    'masked/',
  ]
  const { code } = await transcribe('talk.flac', ...requested)
  assert.match(await read('masked/talk.txt'), /My name is ####\./)
  assert.doesNotMatch(await read('masked/talk.srt'), /Lena/)
  assert.equal(code, 0)
})

test('control characters in a file name are replaced on the terminal only', async () => {
  const name = 'a\n\u001b[31m'
  await copyFile(SAMPLE, join(folder, `${name}.flac`))
  const { code, stderr } = await transcribe(`${name}.flac`, '--subtitles', 'srt')
  assert.match(stderr, /^a\?\?\[31m\.flac: written to a\?\?\[31m\.srt$/m)
  assert.doesNotMatch(stderr, /[^\P{C}\n]/u)
  assert.match(await read(`${name}.srt`), /^1\n/)
  assert.equal(code, 0)
})

test('a folder at the path of the subtitles is rejected before anything is sent', async () => {
  await mkdir(join(folder, 'taken.vtt'))
  await copyFile(SAMPLE, join(folder, 'taken.flac'))
  const { code, stdout, stderr } = await transcribe('taken.flac', '--subtitles', 'srt,vtt')
  const refusal =
    "steno transcribe: Cannot write taken.vtt: it is a folder\nSee 'steno transcribe --help'\n"
  assert.deepEqual([code, stdout, stderr], [2, '', refusal])
})

test('repeated --redact options are combined', async () => {
  const { stdout } = await transcribe('talk.flac', '--redact', 'names', '--redact', 'phones')
  assert.match(stdout, /My name is \[NAME_GIVEN_1\]\./)
})
