import assert from 'node:assert/strict'
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { UsageError } from '../terminal/arguments.ts'
import { readRecording } from './input-files.ts'
import {
  planOutputs,
  planSideFiles,
  prepareOutputs,
  refuseExisting,
  refuseOverwriting,
} from './output-files.ts'

function plan(names: string[], output?: string, format: 'txt' | 'srt' = 'txt') {
  return planOutputs(names.map(readRecording), { output, format })
}

test('without -o every result goes to stdout', () => {
  assert.deepEqual(plan(['a.mp3', 'b.mp3']), [undefined, undefined])
})

test('with -o one recording is written to that file', () => {
  assert.deepEqual(plan(['a.mp3'], 'out.txt'), ['out.txt'])
})

test('with -o several recordings are written to files in a folder', () => {
  const names = ['dir/a.mp3', 'https://x.test/b%20c.wav?d=e', '-']
  const paths = ['out/a.srt', 'out/b c.srt', 'out/stdin.srt']
  assert.deepEqual(plan(names, 'out', 'srt'), paths)
})

test('-o with a trailing slash or an existing folder is a folder for one recording too', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  assert.deepEqual(plan(['a.mp3'], 'out/'), ['out/a.txt'])
  assert.deepEqual(plan(['a.mp3'], folder), [join(folder, 'a.txt')])
})

test('two results with the same output file are rejected', () => {
  const twice =
    /^UsageError: Two results would be written to out.a\?\.txt: run one with another -o$/
  assert.throws(() => plan(['x/a\n', 'y/a\n'], 'out'), twice)
  assert.throws(() => plan(['x/a.mp3', 'y/a.mp3'], 'out'), UsageError)
})

test('recordings that differ only in their extension keep it in the names of their results', () => {
  const paths = ['out/a.mp3.txt', 'out/b.txt', 'out/a.wav.txt']
  assert.deepEqual(plan(['a.mp3', 'b.mp3', 'a.wav'], 'out'), paths)
  const recordings = ['x/a.mp3', 'x/a.wav', 'x/b.wav'].map(readRecording)
  const outputs = [undefined, undefined, undefined]
  const planned = planSideFiles(recordings, { outputs, formats: ['srt'] })
  const subtitles = ['x/a.mp3.srt', 'x/a.wav.srt', 'x/b.srt']
  assert.deepEqual(
    planned.flat().map(({ path }) => path),
    subtitles,
  )
})

test('an output that would overwrite a recording is rejected', () => {
  assert.throws(() => plan(['out/a.txt'], 'out/'), /out.a\.txt would overwrite a recording$/)
})

test('an output that is a link to a recording is rejected', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-results-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const recording = join(folder, 'a.wav')
  writeFileSync(recording, 'audio')
  symlinkSync(recording, join(folder, 'link.wav'))
  linkSync(recording, join(folder, 'same.wav'))
  for (const name of ['a.wav', 'link.wav', 'same.wav']) {
    const output = join(folder, name)
    const recordings = [readRecording(recording)]
    const outputs = planOutputs(recordings, { output, format: 'txt' })
    const refusal = /would overwrite a recording$/
    assert.throws(() => planSideFiles(recordings, { outputs, formats: [] }), refusal)
    assert.throws(() => refuseOverwriting(recording, output), refusal)
  }
  refuseOverwriting(recording, join(folder, 'a.txt'))
})

test('several subtitle results on stdout are rejected', () => {
  assert.throws(() => plan(['a.mp3', 'b.mp3'], undefined, 'srt'), UsageError)
})

test('the folder of an output is created before the work', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  await prepareOutputs([undefined, join(folder, 'a/b/c.txt')])
  assert.ok(statSync(join(folder, 'a/b')).isDirectory())
})

test('a folder that cannot be created is rejected before the work', {
  skip: process.platform !== 'linux' && 'Linux only',
}, async () => {
  await assert.rejects(prepareOutputs(['/proc/steno/out/a.txt']), {
    name: 'UsageError',
    message: /^Cannot write \/proc\/steno/,
  })
})

test('an output path that is a folder is rejected before the work', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const paths = [join(folder, 'not-made/a.txt'), folder]
  await assert.rejects(prepareOutputs(paths), {
    name: 'UsageError',
    message: `Cannot write ${folder}: it is a folder`,
  })
  assert.deepEqual(readdirSync(folder), [])
})

test('translated subtitles are placed beside the others, with the language in their names', () => {
  const languages = ['de', 'zh']
  const recordings = ['x/a.mp3', 'y/b.mp3'].map(readRecording)
  const beside = planSideFiles(recordings, {
    outputs: [undefined, undefined],
    formats: ['srt', 'vtt'],
    languages,
  })
  const first = ['x/a.srt', 'x/a.vtt', 'x/a.de.srt', 'x/a.de.vtt', 'x/a.zh.srt', 'x/a.zh.vtt']
  assert.deepEqual(
    beside[0]!.map(({ path }) => path),
    first,
  )
  assert.deepEqual(beside[1]![2], { format: 'srt', path: 'y/b.de.srt', language: 'de' })
  const clashing = ['x/a.mp3', 'x/a.de.mp3'].map(readRecording)
  const outputs = [undefined, undefined]
  const twice = /Two results would be written to x.a\.de\.srt/
  assert.throws(() => planSideFiles(clashing, { outputs, formats: ['srt'], languages }), twice)
})

test('results that are subtitle files have translations beside them', () => {
  const recordings = [readRecording('x/a.mp3'), readRecording('x/b.mp3')]
  const outputs = planOutputs(recordings, { output: 'o/', format: 'srt' })
  const options = { outputs, formats: [], languages: ['de'], translated: ['srt'] }
  const planned = planSideFiles<string>(recordings, options).flat()
  assert.deepEqual(
    planned.map(({ path }) => path),
    [join('o', 'a.de.srt'), join('o', 'b.de.srt')],
  )
})

/** Returns the files of subtitles beside the outputs. */
function planFiles(names: string[], output?: string): string[] {
  const recordings = names.map(readRecording)
  const outputs = planOutputs(recordings, { output, format: 'txt' })
  const planned = planSideFiles(recordings, { outputs, formats: ['srt', 'vtt'] })
  return planned.flat().map(({ path }) => path)
}

test('subtitle files are placed beside the recording, or here for URLs and stdin', () => {
  assert.deepEqual(planFiles(['x/a.b.mp4']), ['x/a.b.srt', 'x/a.b.vtt'])
  assert.deepEqual(planFiles(['-']), ['stdin.srt', 'stdin.vtt'])
  assert.deepEqual(planFiles(['https://x.test/y/c.mp3']), ['c.srt', 'c.vtt'])
})

test('with -o subtitle files are placed beside the output, under its name', () => {
  assert.deepEqual(planFiles(['x/a.mp4'], 'out/one.txt'), ['out/one.srt', 'out/one.vtt'])
  const paths = ['out/a.srt', 'out/a.vtt', 'out/b.srt', 'out/b.vtt']
  assert.deepEqual(planFiles(['x/a.mp4', 'y/b.mp4'], 'out'), paths)
})

test('a subtitle file that would overwrite another file is rejected', () => {
  assert.throws(() => planFiles(['x/a.mp3', 'x/a.mp3']), UsageError)
  assert.throws(() => planFiles(['x/a.srt']), UsageError)
  assert.throws(() => planFiles(['a.mp3'], 'out.srt'), UsageError)
  assert.throws(() => planFiles(['a.mp3'], 'a.mp3'), UsageError)
})

test('-o with a file name is rejected for several recordings', () => {
  assert.throws(
    () => plan(['a.mp3', 'b.mp3'], 'two.txt'),
    /-o two\.txt is one file for 2: name a folder/,
  )
  assert.deepEqual(plan(['a.mp3', 'b.mp3'], 'two.txt/'), ['two.txt/a.txt', 'two.txt/b.txt'])
})

test('an output that cannot be written is rejected before the work', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const old = join(folder, 'old.txt')
  writeFileSync(old, 'text')
  await prepareOutputs([old, join(folder, 'new.txt')])
  assert.deepEqual([readdirSync(folder), readFileSync(old, 'utf8')], [['old.txt'], 'text'])
  await assert.rejects(prepareOutputs([join(old, 'x.txt')]), {
    name: 'UsageError',
    message: `Cannot write ${old}/x.txt: a part of the path is not a folder`,
  })
})

test('existing subtitles are not overwritten', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = { format: 'srt', path: join(folder, 'a.srt') }
  refuseExisting([file])
  writeFileSync(file.path, 'corrected')
  assert.throws(() => refuseExisting([file]), /a\.srt already exists: add --overwrite/)
})

test('no file gets U+FFFD in place of a name that is not UTF-8', {
  skip: process.platform !== 'linux' && 'needs a file system that stores any bytes',
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-outputs-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(Buffer.from(join(folder, 'caf\xe9'), 'latin1'))
  writeFileSync(Buffer.from(join(folder, 'caf\xe9.wav'), 'latin1'), '')
  const recording = readRecording(join(folder, 'caf\ufffd.wav'))
  const plan = (output?: string) =>
    planSideFiles([recording], { outputs: [output], formats: ['srt'] })
  assert.throws(() => plan(), /Cannot write with the name of .* not UTF-8; name the output with -o/)
  assert.equal(plan('cafe.txt').length, 1)
  const inFolder = prepareOutputs([join(folder, 'caf\ufffd', 'talk.txt')])
  await assert.rejects(inFolder, /not UTF-8; name another folder with -o/)
})
