import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import ort from 'onnxruntime-node'
import {
  randomModel,
  size,
  vocabulary,
  writeCTranslate2,
} from '../../../../test/support/asr/models/random-whisper.ts'
import { decodePlainly, encodePlainly } from '../../../../test/support/asr/whisper-reference.ts'
import { loadWhisper, type WhisperNetwork } from './network.ts'
import { convertWhisper } from './weights/convert.ts'

const { signal } = new AbortController()
const model = randomModel()
const tokens = [6, 8, 10, 14, 0, 3, 1, 2]
let folder: string
let network: WhisperNetwork
let rounded: WhisperNetwork

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steno-whisper-'))
  writeCTranslate2(join(folder, 'source'), model, 'float32')
  await convertWhisper(join(folder, 'source'), join(folder, 'fp32'), { signal, precision: 'fp32' })
  await convertWhisper(join(folder, 'source'), join(folder, 'int8'), { signal })
  network = await loadWhisper(join(folder, 'fp32'))
  rounded = await loadWhisper(join(folder, 'int8'))
})

after(async () => {
  await network.close()
  await rounded.close()
  await rm(folder, { recursive: true })
})

function features(frames: number, seed: number) {
  const data = Float32Array.from({ length: size.mels * frames }, (_, i) => Math.sin(i * seed))
  return { data, frames }
}

const long = features(40, 1.7)
const short = features(22, 0.9)

function assertNear(found: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number) {
  assert.equal(found.length, expected.length)
  for (let i = 0; i < found.length; i++) {
    const apart = Math.abs(found[i]! - expected[i]!)
    assert.ok(apart <= tolerance, `${found[i]} instead of ${expected[i]} at ${i}`)
  }
}

for (const chunk of [long, short]) {
  test(`logits and attention of ${chunk.frames} frames match a plain implementation`, async () => {
    const plain = decodePlainly(model, encodePlainly(model, chunk.data, chunk.frames), tokens)
    const audio = await network.encode([chunk])
    assert.deepEqual(audio.frames, [chunk.frames / 2])
    const output = await network.decoder(audio, [0]).step([tokens], { attention: true })
    assert.equal(output.tokens, tokens.length)
    assertNear(
      output.logits,
      plain.logits.flatMap((row) => [...row]),
      1e-3,
    )
    const heads = [plain.attention[1]![1]!, plain.attention[0]![0]!]
    assertNear(
      output.attention!,
      heads.flatMap((rows) => rows.flatMap((row) => [...row])),
      1e-4,
    )
  })
}

test('token-by-token decoding with the cache matches decoding all at once', async () => {
  const audio = await network.encode([long])
  const whole = await network.decoder(audio, [0]).step([tokens])
  const decoder = network.decoder(audio, [0])
  for (const [i, token] of tokens.entries()) {
    const { logits } = await decoder.step([[token]])
    assertNear(
      logits,
      whole.logits.subarray(i * vocabulary.length, (i + 1) * vocabulary.length),
      1e-4,
    )
  }
  const last = await network.decoder(audio, [0]).step([tokens], { lastOnly: true })
  assert.equal(last.tokens, 1)
  assertNear(last.logits, whole.logits.subarray(-vocabulary.length), 1e-4)
  assert.equal(last.attention, undefined)
})

for (const [name, tolerance] of [
  ['fp32', 1e-4],
  ['int8', 1e-4],
] as const) {
  test(`rows of a batch are independent (${name})`, async () => {
    const net = name === 'fp32' ? network : rounded
    const audio = await net.encode([long, short])
    const rows = [tokens, tokens.toReversed(), tokens.map((token) => (token + 3) % 15)]
    const items = [0, 1, 1]
    const together = net.decoder(audio, items)
    const first = await together.step(rows)
    together.keep([2, 0, 2])
    const second = await together.step([[1], [2], [3]])
    for (const [row, item] of items.entries()) {
      const alone = await net.decoder(audio, [item]).step([rows[row]!])
      const width = tokens.length * vocabulary.length
      assertNear(first.logits.subarray(row * width, (row + 1) * width), alone.logits, tolerance)
    }
    for (const [row, kept] of [2, 0, 2].entries()) {
      const single = net.decoder(audio, [items[kept]!])
      await single.step([rows[kept]!])
      const alone = await single.step([[row + 1]])
      const [from, to] = [row * vocabulary.length, (row + 1) * vocabulary.length]
      assertNear(second.logits.subarray(from, to), alone.logits, tolerance)
    }
  })
}

test('int8 logits are close to the float32 ones', async () => {
  const exact = await network.decoder(await network.encode([long]), [0]).step([tokens])
  const near = await rounded.decoder(await rounded.encode([long]), [0]).step([tokens])
  const error = near.logits.reduce((sum, value, i) => sum + (value - exact.logits[i]!) ** 2, 0)
  const power = exact.logits.reduce((sum, value) => sum + value ** 2, 0)
  assert.ok(Math.sqrt(error / power) < 0.03, `${Math.sqrt(error / power)}`)
})

test('too many frames or tokens, and rows of unequal length, are rejected', async () => {
  await assert.rejects(network.encode([features(41, 1)]), RangeError)
  await assert.rejects(network.encode([{ data: new Float32Array(7), frames: 1 }]), RangeError)
  const decoder = network.decoder(await network.encode([short]), [0, 0])
  await assert.rejects(decoder.step([[6, 7], [6]]), RangeError)
  const many = Array<number>(size.textPositions + 1).fill(0)
  await assert.rejects(decoder.step([many, many]), RangeError)
})

test('a cached chunk is not encoded again', async (t) => {
  const plain = await network.decoder(await network.encode([long, short]), [0, 1]).step([[6], [6]])
  type Sessions = { prototype: { run(feeds: object): Promise<object> } }
  const { prototype } = ort.InferenceSession as unknown as Sessions
  const run = t.mock.method(prototype, 'run')
  const encoded = () => run.mock.calls.filter((call) => 'features' in call.arguments[0]).length
  await network.encode([long], { keep: true })
  const audio = await network.encode([long, short])
  assert.equal(encoded(), 2)
  const again = await network.decoder(audio, [0, 1]).step([[6], [6]])
  assert.deepEqual(again.logits, plain.logits)
  await network.encode([long])
  assert.equal(encoded(), 3)
})
