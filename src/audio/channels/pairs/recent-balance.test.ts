import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SPECTRUM_HOP, SPECTRUM_SAMPLES, type Spectrum, speechSpectra } from '../spectra.ts'
import { BALANCE_BLOCKS, createRecentBalance } from './recent-balance.ts'

/** Spectra of one block: 2.5 s, half as many as in a session. */
const SPECTRA = 39
const SAMPLES = SPECTRA * SPECTRUM_HOP + SPECTRUM_SAMPLES

function noise(seed: number, level: number): Float32Array<ArrayBuffer> {
  let state = seed
  return Float32Array.from({ length: SAMPLES }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return level * (state / 2 ** 31 - 1)
  })
}

/** A voice, after a pause, that reaches each of two channels with a gain, among faint noise. */
function blockOf(turn: number, gains: readonly [number, number]): Spectrum[][] {
  const voice = noise(turn + 7, 0.3).fill(0, 0, SAMPLES / 4)
  const planes = gains.map((gain, channel) => {
    return noise(turn + 70 + channel, 0.01).map((sample, i) => sample + gain * voice[i]!)
  })
  return Array.from({ length: SPECTRA }, (_, n) => {
    const at = n * SPECTRUM_HOP
    return speechSpectra(planes.map((plane) => plane.subarray(at, at + SPECTRUM_SAMPLES)))
  })
}

/** Measures turns of two parties, each of which reaches the channels with its gains. */
function balanceOf(parties: readonly (readonly [number, number])[]) {
  const recent = createRecentBalance(2)
  for (let turn = 0; turn < 4; turn++) recent.add(blockOf(turn, parties[turn % 2]!))
  return recent
}

test('a party beside the sum of both counts as 12 dB louder than its sound in the sum', () => {
  const toFirst = [
    [1, 0.7],
    [0, 0.7],
  ] as const
  const near = (actual: number, expected: number) => {
    assert.ok(Math.abs(actual - expected) < 1, `${actual} instead of ${expected}`)
  }
  const { balance, add } = balanceOf(toFirst)
  const level = 20 * Math.log10(0.7) + 12
  near(balance(0, 1), level)
  near(balance(1, 0), -level)
  const toSecond = toFirst.map(([first, second]) => [second, first] as const)
  near(balanceOf(toSecond).balance(0, 1), -level)
  for (let n = 0; n < BALANCE_BLOCKS; n++) add(blockOf(n, [0, 0]))
  assert.equal(balance(0, 1), 0, 'after a minute of silence')
})

test('separate parties and one scene have no balance', () => {
  const separate = [
    [1, 0],
    [0, 1],
  ] as const
  const scene = [
    [1, 1],
    [0.7, 0.7],
  ] as const
  assert.equal(balanceOf(separate).balance(0, 1), 0)
  assert.equal(balanceOf(scene).balance(0, 1), 0)
})
