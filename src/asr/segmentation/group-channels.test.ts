import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ChannelMode } from '../../audio/channels/choose-sources.ts'
import { groupChannels } from './group-channels.ts'

const SECONDS = 18
const RATE = 16_000
const SAMPLES = SECONDS * RATE
const detector = {
  detect: async (samples: Float32Array) => {
    return new Float32Array(Math.ceil(samples.length / 512)).fill(1)
  },
}

/** Noise with the rhythm of speech, in turns of three seconds: `turn` 0 begins, or 1. */
function voice(turn: number): Float32Array {
  let state = 7 + turn
  return Float32Array.from({ length: SAMPLES }, (_, i) => {
    state = (state * 1664525 + 1013904223) >>> 0
    const speaks = Math.floor(i / (3 * RATE)) % 2 === turn
    const loudness = Math.abs(Math.sin(i / 4000)) ** 2
    return speaks ? 0.3 * (state / 2 ** 31 - 1) * loudness : 0
  })
}

/** Moves samples later, or earlier. */
function moved(samples: Float32Array, delay: number): Float32Array {
  return Float32Array.from(samples, (_, i) => samples[i - delay] ?? 0)
}

function sum(a: Float32Array, b: Float32Array, gain: number): Float32Array {
  return a.map((sample, i) => sample + gain * b[i]!)
}

/** Returns the energy of some seconds. */
function energy(samples: Int16Array, [from, to]: [number, number]): number {
  const part = samples.subarray(from * RATE, to * RATE)
  return part.reduce((total, sample) => total + sample * sample, 0)
}

type Call = { title: string; echo: number; offset: number; gain?: number; mode?: ChannelMode }

for (const { title, echo, offset, gain = 1, mode = 'auto' } of [
  { title: 'crosstalk without delay', echo: 0, offset: 0 },
  { title: 'an echo after 300 ms', echo: 4800, offset: 0 },
  { title: 'crosstalk into a channel that lags by 200 ms', echo: 0, offset: 3200 },
  { title: 'crosstalk into a channel recorded 14 dB louder', echo: 0, offset: 0, gain: 5 },
  { title: 'crosstalk into a channel recorded 20 dB quieter', echo: 0, offset: 0, gain: 0.1 },
  {
    title: 'crosstalk into a channel recorded 14 dB louder, of separate channels,',
    echo: 0,
    offset: 0,
    gain: 5,
    mode: 'separate',
  },
] satisfies Call[] as Call[]) {
  test(`${title} is removed in both directions throughout; turns are kept`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'steno-channels-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const [first, second] = [voice(0), voice(1)]
    const planes = [
      sum(first, moved(second, echo), 0.2).map((sample) => sample / Math.max(1, gain)),
      moved(sum(second, moved(first, echo), 0.2), offset).map((sample) => {
        return sample * Math.min(1, gain)
      }),
    ]
    const channels = planes.map((plane, channel) => {
      const path = join(folder, `in${channel}.pcm`)
      const pcm = Int16Array.from(plane, (sample) => Math.round(32_000 * sample))
      writeFileSync(path, pcm)
      return { channel, path, samples: SAMPLES }
    })
    const task = { channels, mode, folder: join(folder, 'out') }
    const files = await groupChannels(detector, task, new AbortController().signal)
    assert.deepEqual(
      files.map(({ channel, sourceChannels }) => [channel, sourceChannels.toSorted()]),
      [
        [0, [0, 1]],
        [1, [0, 1]],
      ],
    )
    for (const [channel, { path }] of files.entries()) {
      const after = new Int16Array(new Uint8Array(readFileSync(path)).buffer)
      const before = Int16Array.from(planes[channel]!, (sample) => Math.round(32_000 * sample))
      for (let turn = 0; turn < SECONDS / 3; turn++) {
        // Near its own speech a channel keeps what leaks into it.
        const range: [number, number] = [turn * 3 + 0.6, turn * 3 + 2.6]
        const kept = energy(after, range) / energy(before, range)
        const isOwn = turn % 2 === channel
        assert.ok(isOwn ? kept > 0.99 : kept < 0.05, `channel ${channel}, turn ${turn}: ${kept}`)
      }
    }
  })
}

/** A detector that hears whatever is not silent. */
const loudness = {
  detect: async (samples: Float32Array) => {
    return Float32Array.from({ length: Math.ceil(samples.length / 512) }, (_, frame) => {
      const energy = samples.subarray(frame * 512, (frame + 1) * 512).reduce((sum, one) => {
        return sum + one * one
      }, 0)
      return energy > 0.01 ? 1 : 0
    })
  },
}

for (const mode of ['auto', 'separate'] as const) {
  test(`of one party beside the sum of both, each is kept once (${mode})`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'steno-channels-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const [agent, customer] = [voice(0), voice(1)]
    const planes = [agent, sum(agent, customer, 1)]
    const channels = planes.map((plane, channel) => {
      const path = join(folder, `in${channel}.pcm`)
      writeFileSync(
        path,
        Int16Array.from(plane, (sample) => Math.round(32_000 * sample)),
      )
      return { channel, path, samples: SAMPLES }
    })
    const task = { channels, mode, folder: join(folder, 'out') }
    const files = await groupChannels(loudness, task, new AbortController().signal)
    assert.equal(files.length, 2)
    const [first, second] = files.map(({ path }) => {
      return new Int16Array(new Uint8Array(readFileSync(path)).buffer)
    })
    for (let turn = 0; turn < SECONDS / 3; turn++) {
      const range: [number, number] = [turn * 3 + 0.6, turn * 3 + 2.6]
      const [own, other] = turn % 2 === 0 ? [first!, second!] : [second!, first!]
      assert.ok(energy(own, range) > 1e9, `turn ${turn} is kept`)
      assert.ok(energy(other, range) < 0.05 * energy(own, range), `turn ${turn} is kept once`)
    }
  })
}
