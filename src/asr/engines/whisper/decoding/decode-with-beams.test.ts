import assert from 'node:assert/strict'
import { test } from 'node:test'
import { standInNetwork, tokens } from '../../../../../test/support/asr/models/stand-in-whisper.ts'
import type { WhisperNetwork } from '../network.ts'
import { decodeBatch } from './decode.ts'
import { decodeBeams } from './decode-with-beams.ts'

const VOCABULARY = 22
const { signal } = new AbortController()
const options = { prompt: [], task: 'transcribe', signal } as const
const request = {
  segmentIndex: 0,
  frames: 10,
  language: 'de',
  maxTokens: 20,
  temperature: 0,
  seed: 0,
}

/** A network in which these tokens, and no others, may follow a text, with these probabilities. */
function networkOf(next: Record<string, Record<number, number>>) {
  const { network } = standInNetwork([[]])
  const branching: WhisperNetwork = {
    ...network,
    decoder() {
      let rows: number[][] = [[]]
      return {
        async step(fed) {
          rows.forEach((row, i) => {
            row.push(...fed[i]!)
          })
          const logits = rows.flatMap((row) => {
            const written = row.slice(row.lastIndexOf(tokens.noTimestamps) + 1)
            const shares = next[written.join(' ')] ?? { [tokens.end]: 1 }
            return Array.from({ length: VOCABULARY }, (_, id) => Math.log(shares[id] ?? 1e-9))
          })
          const attention = new Float32Array(rows.length * 2 * fed[0]!.length * 10).fill(0.1)
          return { logits: Float32Array.from(logits), tokens: 1, attention, frames: 10 }
        },
        keep(kept) {
          rows = kept.map((i) => [...rows[i]!])
        },
        close() {},
      }
    },
  }
  return branching
}

async function decodeBoth(network: WhisperNetwork) {
  const audio = await network.encode([{ data: new Float32Array(80 * 20), frames: 20 }])
  const [greedy] = await decodeBatch(network, audio, [request], options)
  return {
    greedy: greedy!,
    beamed: await decodeBeams(network, audio, { ...request, greedy: greedy! }, options),
  }
}

test('beam search finds a text that starts less likely but is likelier overall', async () => {
  const { greedy, beamed } = await decodeBoth(
    networkOf({
      '': { 1: 0.6, 2: 0.4 },
      1: { 3: 0.3, 4: 0.3, 5: 0.3 },
      2: { 6: 0.9, 7: 0.1 },
    }),
  )
  assert.deepEqual(greedy.tokens, [1, 3])
  assert.deepEqual(beamed?.tokens, [2, 6])
  assert.equal(beamed.logProbs.length, 3)
  assert.ok(Math.abs(beamed.logProbs[1]! - Math.log(0.9)) < 0.01)
  assert.equal(beamed.attention.length, 3)
})

test('beam search does not revisit confident tokens', async () => {
  const fed: number[][] = []
  const network = networkOf({
    '': { 1: 0.95, 2: 0.05 },
    1: { 3: 0.97 },
    '1 3': { 4: 0.6, 5: 0.4 },
    '1 3 5': { 6: 0.9 },
    '1 3 4': { 6: 0.3, 7: 0.3, 8: 0.3 },
  })
  const { greedy, beamed } = await decodeBoth({
    ...network,
    decoder(...args) {
      const decoder = network.decoder(...args)
      const step: typeof decoder.step = (tokens, how) => {
        fed.push([...tokens[0]!])
        return decoder.step(tokens, how)
      }
      return { ...decoder, step }
    },
  })
  assert.deepEqual(greedy.tokens, [1, 3, 4, 6])
  assert.deepEqual(beamed?.tokens, [1, 3, 5, 6])
  assert.equal(beamed.logProbs.length, 5)
  assert.equal(beamed.attention.length, 5)
  const searched = fed.filter((row) => row.length > 1).at(-1)!
  assert.deepEqual(searched.slice(-2), [1, 3])
})
