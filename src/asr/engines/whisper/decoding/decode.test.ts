import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standInNetwork, tokens } from '../../../../../test/support/asr/models/stand-in-whisper.ts'
import { decodeBatch, decodeDraft, detectLanguage, type WhisperRequest } from './decode.ts'

const { signal } = new AbortController()
const options = { prompt: [], task: 'transcribe', signal } as const

function request(segmentIndex: number, extra: Partial<WhisperRequest> = {}): WhisperRequest {
  return {
    segmentIndex,
    frames: 5,
    language: 'de',
    maxTokens: 20,
    temperature: 0,
    seed: 1,
    ...extra,
  }
}

async function encoded(network: ReturnType<typeof standInNetwork>['network'], count: number) {
  return await network.encode(
    Array.from({ length: count }, () => ({ data: new Float32Array(), frames: 10 })),
  )
}

test('each segment of a batch gets its own text', async () => {
  const { network } = standInNetwork([[1, 2, 3], [4], [5, 6, 7, 8]])
  const audio = await encoded(network, 3)
  const found = await decodeBatch(
    network,
    audio,
    [0, 1, 2].map((segmentIndex) => request(segmentIndex)),
    options,
  )
  assert.deepEqual(
    found.map(({ tokens }) => tokens),
    [[1, 2, 3], [4], [5, 6, 7, 8]],
  )
  for (const { tokens, logProbs, attention, stopReason } of found) {
    assert.equal(stopReason, 'end')
    assert.equal(logProbs.length, tokens.length + 1)
    assert.equal(attention.length, tokens.length + 1)
  }
})

test('the prompt precedes the language and task tokens', async () => {
  const { network, fed } = standInNetwork([[1]])
  const audio = await encoded(network, 1)
  await decodeBatch(network, audio, [request(0)], { ...options, prompt: [8, 9], task: 'translate' })
  const { startOfPrevious, start, translate, noTimestamps } = tokens
  assert.deepEqual(fed[0], [startOfPrevious, 8, 9, start, 13, translate, noTimestamps])
})

test('a loop is cut to one repetition, and a text at its token limit', async () => {
  const { network } = standInNetwork([
    [1, ...Array<number>(30).fill(2)],
    [1, 2, 3, 4, 5, 6],
  ])
  const audio = await encoded(network, 2)
  const requests = [request(0, { maxTokens: 40 }), request(1, { maxTokens: 4 })]
  const [loop, long] = await decodeBatch(network, audio, requests, options)
  assert.deepEqual([loop?.tokens, loop?.stopReason], [[1, 2], 'loop'])
  assert.deepEqual([long?.tokens, long?.stopReason], [[1, 2, 3, 4], 'cap'])
})

test('suppressed tokens are never chosen, and the end token is not chosen first', async () => {
  const { network } = standInNetwork([[tokens.noSpeech, tokens.firstTimestamp], []])
  const audio = await encoded(network, 2)
  const found = await decodeBatch(network, audio, [request(0), request(1)], options)
  for (const { tokens: written } of found) {
    assert.ok(written.length > 0)
    assert.ok(written.every((token) => token < tokens.end))
  }
})

test('sampling is deterministic for the same seed', async () => {
  const { network } = standInNetwork([[1, 2, 3, 4, 5]], { certainty: 1 })
  const audio = await encoded(network, 1)
  const decodeText = async (seed: number) => {
    const [found] = await decodeBatch(
      network,
      audio,
      [request(0, { temperature: 1, seed })],
      options,
    )
    return found!.tokens.join(' ')
  }
  assert.equal(await decodeText(3), await decodeText(3))
  const texts = new Set(await Promise.all([1, 2, 3, 4, 5].map(decodeText)))
  assert.ok(texts.size > 1, 'seeds differ')
})

test('a draft never changes the text', async () => {
  const text = [1, 2, 3, 4, 5]
  for (const draft of [[], [1, 2, 3], [1, 2, 9, 9], [7], [1, 2, 3, 4, 5, 6], text]) {
    const { network } = standInNetwork([text])
    const audio = await encoded(network, 1)
    const found = await decodeDraft(network, audio, { ...request(0), tokens: draft }, options)
    assert.deepEqual(found.tokens, text)
    assert.equal(found.attention.length, text.length + 1)
  }
})

test('a correct draft saves decoder calls', async () => {
  const { network, fed } = standInNetwork([[1, 2, 3, 4, 5]])
  const audio = await encoded(network, 1)
  await decodeDraft(network, audio, { ...request(0), tokens: [1, 2, 3, 4] }, options)
  assert.equal(fed.length, 3)
})

test('detect returns probabilities of the languages and of silence', async () => {
  const { network } = standInNetwork([[1]])
  const [found] = await detectLanguage(network, await encoded(network, 1))
  assert.deepEqual([...found!.languages.keys()], ['en', 'de'])
  const sum = [...found!.languages.values()].reduce((a, b) => a + b, 0)
  assert.ok(Math.abs(sum - 1) < 1e-6)
  assert.ok(found!.noSpeech > 0 && found!.noSpeech < 1)
})
