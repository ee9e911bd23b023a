import assert from 'node:assert/strict'
import test from 'node:test'
import { beepOver } from './beep.ts'

const span = { start: 4000, end: 12_000 }

/** A second of one value, with the tone over the span. */
function beeped(value: number): Int16Array {
  const samples = new Int16Array(16_000).fill(value)
  beepOver(samples, { at: 0, spans: [span] })
  return samples
}

/** The share of the energy at `pitch` (Goertzel, 1958). */
function partAt(samples: Int16Array, pitch: number): number {
  const turn = (2 * Math.PI * pitch) / 16_000
  const sum = (wave: (phase: number) => number) =>
    samples.reduce((total, sample, i) => total + sample * wave(turn * i), 0)
  const energy = samples.reduce((total, sample) => total + sample ** 2, 0)
  return (2 * (sum(Math.sin) ** 2 + sum(Math.cos) ** 2)) / (samples.length * energy)
}

test('the beep is a tone of 1 kHz at -20 dB of full scale', () => {
  const middle = beeped(9000).slice(5000, 11_000)
  assert.ok(partAt(middle, 1000) > 0.999)
  assert.equal(Math.max(...middle), 3277)
})

test('the beep replaces the original audio completely and changes nothing else', () => {
  const [one, other] = [beeped(9000), beeped(-321)]
  const { start, end } = span
  assert.deepEqual(one.slice(start, end), other.slice(start, end))
  assert.ok(one.slice(0, start).every((sample) => sample === 9000))
  assert.ok(one.slice(end).every((sample) => sample === 9000))
})

test('the beep fades in and out within 8 ms', () => {
  const samples = beeped(0)
  const loudest = (from: number, to: number) =>
    Math.max(...samples.slice(from, to).map((sample) => Math.abs(sample)))
  for (const [from, to] of [
    [4000, 4016],
    [11_984, 12_000],
  ] as const) {
    assert.ok(loudest(from, to) < 200, `${loudest(from, to)}`)
  }
  assert.equal(loudest(4128, 4144), 3277)
  assert.equal(loudest(11_856, 11_872), 3277)
})

test('the beep is the same however the channel is split into blocks', () => {
  const samples = new Int16Array(16_000).fill(77)
  for (const [at, end] of [
    [0, 4001],
    [4001, 9000],
    [9000, 12_000],
    [12_000, 16_000],
  ] as const) {
    beepOver(samples.subarray(at, end), { at, spans: [span] })
  }
  assert.deepEqual(samples, beeped(77))
})
