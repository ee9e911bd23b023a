import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ChannelMode, createSceneAnalysis, WINDOW_SAMPLES } from './scene.ts'

/** Each call gives other noise, equal in every run. */
function createNoise(seed: number) {
  let state = seed
  return (level: number) => {
    return Float32Array.from({ length: WINDOW_SAMPLES }, () => {
      state = (state * 1664525 + 1013904223) >>> 0
      return level * (state / 2 ** 31 - 1)
    })
  }
}

function mix(...parts: [samples: Float32Array, gain: number, delay?: number][]): Float32Array {
  return Float32Array.from({ length: WINDOW_SAMPLES }, (_, i) => {
    return parts.reduce((sum, [own, gain, delay = 0]) => sum + gain * (own[i - delay] ?? 0), 0)
  }) as Float32Array<ArrayBuffer>
}

type Turn = { voice: Float32Array; other: Float32Array; noise: (level: number) => Float32Array }

/** Analyzes turns of two voices; speech begins after half a second. */
function groupsOf(
  record: (turn: Turn, speaker: number) => Float32Array[],
  {
    speaking,
    mode = 'auto',
    center,
  }: { speaking?: number[]; mode?: ChannelMode; center?: number } = {},
) {
  const noise = createNoise(7)
  const silence = new Float32Array(WINDOW_SAMPLES)
  let analysis: ReturnType<typeof createSceneAnalysis> | undefined
  for (let n = 0; n < 6; n++) {
    const said = noise(0.3).fill(0, 0, 8192)
    const [voice, other] = n % 2 === 0 ? [said, silence] : [silence, said]
    const planes = record({ voice, other, noise }, n % 2)
    analysis ??= createSceneAnalysis(planes.length, center)
    const speech = planes.map((_, i) => {
      return new Float32Array(125).fill(speaking && !speaking.includes(i) ? 0 : 1, 16)
    })
    analysis.write(planes as Float32Array<ArrayBuffer>[], speech)
  }
  return analysis!.result(mode)
}

const channelsOf = (groups: ReturnType<typeof groupsOf>) => groups.map(({ channels }) => channels)

test('one voice under other music in each channel is one scene, and both are summed', () => {
  const groups = groupsOf(({ voice, other, noise }) => {
    const said = mix([voice, 1], [other, 1])
    return [mix([said, 1], [noise(0.1), 1]), mix([said, 1], [noise(0.1), 1])]
  })
  assert.deepEqual(channelsOf(groups), [[0, 1]])
  assert.equal(groups[0]!.sources.length, 2)
})

test('voices panned by 70:30 are one scene; what leaks at -10 dB and less is not', () => {
  const shared = (gain: number, full = 1) =>
    groupsOf(({ voice, other, noise }) => [
      mix([voice, full], [other, gain], [noise(0.002), 1]),
      mix([voice, gain], [other, full], [noise(0.002), 1]),
    ])
  assert.deepEqual(channelsOf(shared(0.3, 0.7)), [[0, 1]])
  for (const decibels of [-10, -15, -20, -30]) {
    assert.deepEqual(channelsOf(shared(10 ** (decibels / 20))), [[0], [1]], `${decibels} dB`)
  }
  assert.deepEqual(channelsOf(shared(0)), [[0], [1]])
})

test('a delayed copy is moved ahead before it is added', () => {
  const [scene] = groupsOf(({ voice, other, noise }) => {
    const said = mix([voice, 1], [other, 1])
    return [mix([said, 1], [noise(0.002), 1]), mix([said, 0.9, 320], [noise(0.003), 1])]
  })
  assert.deepEqual(scene!.sources, [
    { channel: 0, delay: 0 },
    { channel: 1, delay: 320 },
  ])
})

test('of channels in antiphase, and of a clean and a noisy one, the better is taken alone', () => {
  for (const [gain, level, best] of [
    [-1, 0.003, 0],
    [1, 0.1, 0],
    [1, 0.0002, 1],
  ] as const) {
    const groups = groupsOf(({ voice, other, noise }) => {
      const said = mix([voice, 1], [other, 1])
      return [mix([said, 1], [noise(0.002), 1]), mix([said, gain], [noise(level), 1])]
    })
    assert.deepEqual(channelsOf(groups), [[0, 1]])
    assert.deepEqual(groups[0]!.sources, [{ channel: best, delay: 0 }])
  }
})

test('a film is one scene, heard at its center', () => {
  const groups = groupsOf(
    ({ voice, other, noise }) => {
      const said = mix([voice, 1], [other, 1])
      const side = () => mix([said, 0.3], [noise(0.15), 1])
      const back = () => noise(0.05)
      return [side(), side(), mix([said, 1], [noise(0.002), 1]), noise(0.001), back(), back()]
    },
    { speaking: [0, 1, 2], center: 2 },
  )
  assert.deepEqual(channelsOf(groups), [[0, 1, 2, 3, 4, 5]])
  assert.deepEqual(groups[0]!.sources, [{ channel: 2, delay: 0 }])
})

test('a film with music, speech and silence apart is one scene, whichever channels are equal', () => {
  const said = ({ voice, other }: Turn) => mix([voice, 1], [other, 1])
  const silence = new Float32Array(WINDOW_SAMPLES)
  const music = (turn: Turn) => [turn.noise(0.2), turn.noise(0.2), said(turn), silence]
  assert.deepEqual(channelsOf(groupsOf(music, { speaking: [2], center: 2 })), [[0, 1, 2, 3]])
  const mute = (turn: Turn) => [silence, said(turn)]
  assert.deepEqual(channelsOf(groupsOf(mute, { speaking: [1], center: 1 })), [[0, 1]])
})

test('who speaks beside the center of a possible film is a party', () => {
  const groups = groupsOf(({ voice, other }) => [other, voice], { center: 1 })
  assert.deepEqual(channelsOf(groups), [[0], [1]])
})

test('speech beside silence or music is a party of its own', () => {
  const groups = groupsOf(({ voice, other, noise }) => [noise(0.2), mix([voice, 1], [other, 1])], {
    speaking: [1],
  })
  assert.deepEqual(channelsOf(groups), [[0], [1]])
})

test('a request decides before the sound does', () => {
  const record = ({ voice, other }: Turn) => [voice, other]
  assert.deepEqual(channelsOf(groupsOf(record, { mode: 'mix' })), [[0, 1]])
  const same = ({ voice, noise }: Turn) => [mix([voice, 1], [noise(0.01), 1]), voice]
  assert.deepEqual(channelsOf(groupsOf(same, { mode: 'separate' })), [[0], [1]])
})
