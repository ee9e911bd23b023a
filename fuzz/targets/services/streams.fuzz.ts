import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { readMessage, StreamError } from '../../../examples/telephony/stream-messages.ts'
import { ProtocolError, readEvents, writeEvent } from '../../../examples/wyoming/events.ts'
import { UsageError } from '../../../src/cli/terminal/arguments.ts'
import { readSpellingFile } from '../../../src/cli/transcribe/options/spelling-file.ts'
import { readVocabularyFile } from '../../../src/cli/transcribe/options/vocabulary-file.ts'
import { AppError } from '../../../src/errors.ts'
import { DamagedFileError } from '../../../src/storage/objects/encryption/encrypted-chunks.ts'
import { withEncryption } from '../../../src/storage/objects/encryption/encrypted-objects.ts'
import { parseObjectKeys } from '../../../src/storage/objects/encryption/object-keys.ts'
import { createMemoryObjects } from '../../../test/support/storage/objects/memory-objects.ts'
import { fuzzBytes } from '../../guided.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const file = join(folder, 'list.json')

const id = '0b8c2c0e-7d1d-4f4e-9a35-0f6d6f1f6b11'
const content = Buffer.from('a recording of some length')
const keys = parseObjectKeys(Buffer.alloc(32, 7).toString('base64'), 'the fuzzer')
const options = { maxBytes: 2e6, signal: new AbortController().signal }
const stored = createMemoryObjects(folder)
const objects = withEncryption(stored, { keys, folder, nodeId: 'fuzz' })

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

/** Writes the bytes of an object as they are; returns what they were. */
async function storeRaw(bytes: Buffer): Promise<Buffer> {
  const { body } = await stored.read(id)
  const before = await buffer(body)
  await stored.write(id, piecesOf(bytes), options)
  return before
}

await objects.write(id, piecesOf(content), options)
const encrypted = await storeRaw(content)

const texts = (...values: unknown[]) => values.map((value) => Buffer.from(JSON.stringify(value)))
const started = {
  streamSid: 'MZ1',
  callSid: 'CA1',
  tracks: ['inbound', 'outbound'],
  mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
}
const seeds = {
  wyoming: [
    Buffer.concat([writeEvent('describe'), writeEvent('transcribe', { language: 'en' })]),
    Buffer.from('{"type":"audio-chunk","data":{"rate":16000},"payload_length":4}\nabcd'),
    Buffer.from('{"type":"audio-start","data_length":14,"payload_length":null}\n{"rate":16000}'),
  ],
  telephony: texts(
    { event: 'start', start: started, streamSid: 'MZ1' },
    { event: 'media', media: { track: 'inbound', timestamp: '20', payload: '//8=' } },
    { event: 'stop' },
  ),
  vocabulary: texts(
    ['word', { value: 'Zoë', intensity: 0.5, pronunciations: ['zo'], language: 'en' }],
    { vocabulary: ['a'], default_intensity: 0.1 },
  ),
  spelling: texts({ SQL: ['sequel'] }, { spelling_dictionary: { constructor: ['x'] } }),
  object: [encrypted, content],
}

async function failsWith(
  kinds: (new (...given: never[]) => Error)[],
  read: () => Promise<unknown>,
) {
  try {
    return await read()
  } catch (error) {
    assert.ok(
      kinds.some((kind) => error instanceof kind),
      (error as Error).stack,
    )
    return undefined
  }
}

const checks = {
  async wyoming(bytes: Buffer) {
    await failsWith([ProtocolError], async () => {
      let read = 0
      for await (const { type, data, payload } of readEvents(piecesOf(bytes))) {
        assert.ok(typeof type === 'string' && Object.getPrototypeOf(data) === Object.prototype)
        read += payload.length
      }
      assert.ok(read <= bytes.length)
    })
  },
  async telephony(bytes: Buffer) {
    await failsWith([StreamError], async () => {
      const message = readMessage(bytes.toString())
      if (message.event === 'media') assert.ok(message.ms === undefined || message.ms >= 0)
      if (message.event === 'start') assert.ok(message.tracks.length > 0)
    })
  },
  async vocabulary(bytes: Buffer) {
    writeFileSync(file, bytes)
    const read = await failsWith([UsageError], () => readVocabularyFile(file))
    if (read) assert.ok(Array.isArray((read as { vocabulary: unknown }).vocabulary))
  },
  async spelling(bytes: Buffer) {
    writeFileSync(file, bytes)
    await failsWith([UsageError], () => readSpellingFile(file))
  },
  /** An object is what was written, or refused; without its header it was never encrypted. */
  async object(bytes: Buffer) {
    await storeRaw(bytes)
    const isEncrypted = bytes.subarray(0, 8).equals(encrypted.subarray(0, 8)) && bytes.length >= 48
    const read = await failsWith([AppError, DamagedFileError], async () => {
      return buffer((await objects.read(id)).body)
    })
    if (read) assert.deepEqual(read, isEncrypted ? content : bytes)
    const part = { start: 2, end: 9 }
    const some = await failsWith([AppError, DamagedFileError, RangeError], async () => {
      return buffer((await objects.read(id, part)).body)
    })
    if (some && isEncrypted) assert.deepEqual(some, content.subarray(2, 10))
  },
}

await fuzzBytes('streams', seeds, (bytes, kind) => checks[kind](bytes))
