import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSherpaLayout, readTokenList } from '../../../src/asr/engines/sherpa/layout.ts'
import { convertWhisper } from '../../../src/asr/engines/whisper/weights/convert.ts'
import { openCTranslate2 } from '../../../src/asr/engines/whisper/weights/ctranslate2.ts'
import { openSafetensors } from '../../../src/asr/engines/whisper/weights/hugging-face-weights.ts'
import { inspectWhisperModel } from '../../../src/asr/engines/whisper/weights/inspect-model.ts'
import type { WeightFile } from '../../../src/asr/engines/whisper/weights/weights.ts'
import { readStoredRecord } from '../../../src/models/install/installed-models.ts'
import { unzipMembers } from '../../../src/models/install/unzip.ts'
import { failsClearly } from '../../fails-clearly.ts'
import { type Check, fuzzBytes } from '../../guided.ts'
import {
  members,
  smallModel,
  storedRecord,
  writePublished,
  writeSherpa,
  writeTranslated,
  zipArchive,
} from '../../model-seeds.ts'

const folder = mkdtempSync(join(tmpdir(), 'steno-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

const within = (name: string) => join(folder, name)
const [translated, published, sherpa] = [within('ctranslate2'), within('published'), within('s')]
writeTranslated(translated)
writePublished(published)
const { onnx, tokens } = writeSherpa(sherpa)
mkdirSync(within('stored'))

/** Reads every array that the small model has, whole and one row. */
function readArrays(weights: WeightFile | undefined): void {
  for (const name of weights ? smallModel.keys() : []) {
    const sizes = weights!.sizes(name)
    if (!sizes) continue
    const count = sizes.reduce((product, n) => product * n, 1)
    if (!name.endsWith('num_heads')) assert.equal(weights!.read(name).length, count)
    if (sizes[0]) weights!.read(name, [0, 1])
  }
  weights?.close()
}

/** A damaged folder is refused in words for users, or becomes a model. */
async function convert(source: string): Promise<void> {
  await failsClearly(
    () => convertWhisper(source, within('converted'), { signal }),
    'WeightFileError',
  )
}

/** Judges a file in its folder, which is whole otherwise. */
function inFolder(read: () => void | Promise<void>, ...path: [string, string]): Check<string> {
  const file = join(...path)
  const whole = readFileSync(file)
  return async (bytes) => {
    writeFileSync(file, bytes)
    try {
      await read()
    } finally {
      writeFileSync(file, whole)
    }
  }
}

async function unzip(bytes: Buffer): Promise<void> {
  writeFileSync(within('archive'), bytes)
  rmSync(within('member'), { force: true })
  const wanted = members.map((member) => ({ member, path: within('member') }))
  await failsClearly(() => unzipMembers(within('archive'), wanted, signal))
}

function readRecord(bytes: Buffer): void {
  writeFileSync(join(within('stored'), 'model.json'), bytes)
  const found = readStoredRecord(within('stored'))
  for (const [name, file] of Object.entries(found?.files ?? {})) {
    assert.match(name, /^\w[\w.-]*$/)
    assert.ok(Number.isSafeInteger(file.bytes) && typeof file.sha256 === 'string')
  }
}

/** What a conversion begins with; the rest of it is slow. */
function describe(source: string, weights: WeightFile | undefined): void {
  if (!weights) return
  const { config, vocabulary } = inspectWhisperModel(source, weights)
  assert.ok(config.alignmentHeads.flat().every((n) => Number.isInteger(n) && n >= 0))
  const named = [...config.suppressed, ...config.suppressedAtBegin]
  const ids = [...named, ...Object.values(config.languages), ...Object.values(config.tokens)]
  assert.ok(ids.every((id) => Number.isInteger(id) && id >= 0 && id <= config.vocabulary))
  assert.ok(vocabulary.every((token) => typeof token === 'string'))
  weights.close()
}

const describeTranslated = () =>
  describe(translated, openCTranslate2(join(translated, 'model.bin')))
const describePublished = () => describe(published, openSafetensors(published))
const ofTranslated = (name: string) =>
  inFolder(() => failsClearly(describeTranslated, 'WeightFileError'), translated, name)
const ofPublished = (name: string) =>
  inFolder(() => failsClearly(describePublished, 'WeightFileError'), published, name)
const seed = (...path: [string, string]) => [readFileSync(join(...path))]

const checks = {
  ctranslate2: inFolder(
    () =>
      failsClearly(
        () => readArrays(openCTranslate2(join(translated, 'model.bin'))),
        'WeightFileError',
      ),
    ...([translated, 'model.bin'] as const),
  ),
  ctranslate2Model: inFolder(() => convert(translated), translated, 'model.bin'),
  ctranslate2Config: ofTranslated('config.json'),
  ctranslate2Vocabulary: ofTranslated('vocabulary.json'),
  safetensors: inFolder(
    () => failsClearly(() => readArrays(openSafetensors(published)), 'WeightFileError'),
    ...([published, 'model.safetensors'] as const),
  ),
  safetensorsModel: inFolder(() => convert(published), published, 'model.safetensors'),
  safetensorsIndex: ofPublished('model.safetensors.index.json'),
  generation: ofPublished('generation_config.json'),
  vocab: ofPublished('vocab.json'),
  tokenizer: ofPublished('tokenizer.json'),
  added: ofPublished('added_tokens.json'),
  onnx: inFolder(() => failsClearly(() => readSherpaLayout(sherpa)), sherpa, 'model.onnx'),
  tokens: inFolder(() => assert.ok(readTokenList(tokens).length <= 1e6), sherpa, 'tokens.txt'),
  record: readRecord,
  zip: unzip,
}

await fuzzBytes(
  'models',
  {
    ctranslate2: seed(translated, 'model.bin'),
    ctranslate2Model: seed(translated, 'model.bin'),
    ctranslate2Config: seed(translated, 'config.json'),
    ctranslate2Vocabulary: seed(translated, 'vocabulary.json'),
    safetensors: seed(published, 'model.safetensors'),
    safetensorsModel: seed(published, 'model.safetensors'),
    safetensorsIndex: seed(published, 'model.safetensors.index.json'),
    generation: seed(published, 'generation_config.json'),
    vocab: seed(published, 'vocab.json'),
    tokenizer: seed(published, 'tokenizer.json'),
    added: seed(published, 'added_tokens.json'),
    onnx: [readFileSync(onnx)],
    tokens: [readFileSync(tokens)],
    record: [Buffer.from(JSON.stringify(storedRecord))],
    zip: [zipArchive()],
  },
  (bytes, kind) => checks[kind](bytes, kind),
)
