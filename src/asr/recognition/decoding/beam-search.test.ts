import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BeamOutput, likeliestTokens, type RankedToken, searchBeams } from './beam-search.ts'

const END = 0
const { signal } = new AbortController()

/** A decoder in which these tokens may follow a text, with these probabilities. */
function decoderOf(nextTokens: Record<string, Record<number, number>>) {
  let texts: number[][] = []
  const calls: number[] = []
  const output = (): BeamOutput => {
    calls.push(texts.length)
    return {
      rank(row, count): RankedToken[] {
        const shares = nextTokens[texts[row]!.join(' ')] ?? { [END]: 1 }
        return Object.entries(shares)
          .map(([token, share]) => ({ token: Number(token), logProb: Math.log(share) }))
          .sort((a, b) => b.logProb - a.logProb)
          .slice(0, count)
      },
      attention: (row) => Float32Array.from(texts[row]!),
    }
  }
  const decoder = {
    async begin(tokens: readonly number[]) {
      texts = [[...tokens]]
      return output()
    },
    async next(tokens: readonly number[], rows: readonly number[]) {
      texts = rows.map((row, i) => [...texts[row]!, tokens[i]!])
      return output()
    },
  }
  return { decoder, calls }
}

function greedyOf(tokens: number[], shares: number[]) {
  const attention = tokens.map(() => new Float32Array())
  return { tokens, logProbs: shares.map((share) => Math.log(share)), attention }
}

const request = { endToken: END, maxTokens: 20, signal }

test('the text with the highest mean log probability counts, not the likeliest first token', async () => {
  const { decoder } = decoderOf({ '': { 1: 0.6, 2: 0.4 }, 1: { 3: 0.3, 4: 0.3 }, 2: { 5: 0.95 } })
  const greedy = greedyOf([1, 3], [0.6, 0.3, 1])
  const text = await searchBeams(decoder, { ...request, greedy })
  assert.deepEqual(text?.tokens, [2, 5])
  assert.deepEqual(
    text.logProbs.map((logProb) => Math.exp(logProb).toFixed(2)),
    ['0.40', '0.95', '1.00'],
  )
  assert.deepEqual(
    text.attention.map((row) => [...row]),
    [[], [2], [2, 5]],
  )
})

test('the search begins where the greedy text is no longer certain', async () => {
  const { decoder, calls } = decoderOf({ '7 8': { 1: 0.5, 2: 0.4 } })
  const greedy = greedyOf([7, 8, 1], [0.99, 0.95, 0.5, 1])
  const text = await searchBeams(decoder, { ...request, greedy })
  assert.deepEqual(text?.tokens, [7, 8, 1])
  assert.equal(text.logProbs.length, 4)
  assert.deepEqual(calls, [1, 2])
})

test('a text that loops or grows too long is not found', async () => {
  const loop = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [Array(i).fill(1).join(' '), { 1: 1 }]),
  )
  const greedy = greedyOf([], [0.1])
  assert.equal(await searchBeams(decoderOf(loop).decoder, { ...request, greedy }), undefined)
  const long = { '': { 1: 1 }, 1: { 2: 1 }, '1 2': { 3: 1 } }
  const short = { ...request, maxTokens: 2, greedy }
  assert.equal(await searchBeams(decoderOf(long).decoder, short), undefined)
})

test('an aborted search ends', async () => {
  const { decoder } = decoderOf({ '': { 1: 1 } })
  const aborted = AbortSignal.abort(new Error('canceled'))
  const greedy = greedyOf([], [0.1])
  await assert.rejects(searchBeams(decoder, { ...request, greedy, signal: aborted }), /canceled/)
})

test('likeliestTokens ranks only the allowed tokens', () => {
  const logits = Float32Array.from([5, 1, 9, 3, 7])
  assert.deepEqual(likeliestTokens(logits, Uint32Array.of(0, 1, 3, 4), 3), [4, 0, 3])
  assert.deepEqual(likeliestTokens(logits, Uint32Array.of(1), 3), [1])
})
