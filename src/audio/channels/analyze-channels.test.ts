import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createChannelAnalysis, WINDOW_SAMPLES } from './analyze-channels.ts'
import type { ChannelMode } from './choose-sources.ts'

/** Windows as short as that of the end of a recording save time. */
const SAMPLES = WINDOW_SAMPLES / 2
const NOISE = createNoise(40 * SAMPLES)

function createNoise(samples: number): Float32Array {
  let state = 7
  return Float32Array.from({ length: samples }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  })
}

function mix(...parts: [samples: Float32Array, gain: number, delay?: number][]): Float32Array {
  const sum = new Float32Array(parts[0]![0].length)
  for (const [sound, gain, delay = 0] of parts) {
    for (let i = delay; i < sum.length; i++) sum[i]! += gain * sound[i - delay]!
  }
  return sum
}

type Turn = { voice: Float32Array; other: Float32Array; noise: (level: number) => Float32Array }

/** Analyzes turns of two voices; speech begins after half a second. */
function groupsOf(
  record: (turn: Turn, speaker: number) => Float32Array[],
  {
    speaking,
    mode = 'auto',
    center,
    turns = 4,
    isHeard = () => true,
    mistaken,
  }: {
    speaking?: number[]
    mode?: ChannelMode
    center?: number
    turns?: number
    isHeard?: (plane: Float32Array) => boolean
    /** The turn in which every channel passes for speech; without it only the center does. */
    mistaken?: number
  } = {},
) {
  let used = 0
  /** Each call gives other noise, equal in every run. */
  const noise = (level: number) => {
    const at = (used++ * SAMPLES) % NOISE.length
    return mix([NOISE.subarray(at, at + SAMPLES), level])
  }
  const silence = new Float32Array(SAMPLES)
  let analysis: ReturnType<typeof createChannelAnalysis> | undefined
  for (let n = 0; n < turns; n++) {
    const spoken = noise(0.3).fill(0, 0, 8192)
    const [voice, other] = n % 2 === 0 ? [spoken, silence] : [silence, spoken]
    const planes = record({ voice, other, noise }, n % 2)
    analysis ??= createChannelAnalysis(planes.length, center)
    const others = mistaken === undefined || mistaken === n
    const heard = planes.flatMap((plane, i) =>
      (others || i === center) && isHeard(plane) ? [i] : [],
    )
    const speech = speechOf(planes, { speaking: speaking ?? heard, from: 16 })
    analysis.write(planes as Float32Array<ArrayBuffer>[], speech)
  }
  return analysis!.result(mode)
}

function speechOf(
  planes: readonly Float32Array[],
  { speaking, from = 0 }: { speaking?: number[] | undefined; from?: number },
): Float32Array[] {
  return planes.map(({ length }, i) => {
    return new Float32Array(length / 512).fill(speaking && !speaking.includes(i) ? 0 : 1, from)
  })
}

/** Two readers, each for three seconds. */
function readers(): [Float32Array, Float32Array] {
  const path = new URL('../../../test/fixtures/two-voices.wav', import.meta.url)
  const samples = new Int16Array(new Uint8Array(readFileSync(path)).buffer, 44)
  const from = (start: number) => {
    return Float32Array.from(samples.subarray(start, start + 48_128), (one) => one / 32_768)
  }
  return [from(0), from(57_600)]
}

const sourcesOf = (groups: ReturnType<typeof groupsOf>) => {
  return groups.map(({ sources }) => sources.map(({ channel }) => channel).toSorted())
}
const channelsOf = (groups: ReturnType<typeof groupsOf>) => groups.map(({ channels }) => channels)

test('one voice under different music per channel is one group, mixed from both', () => {
  const groups = groupsOf(({ voice, other, noise }) => {
    const spoken = mix([voice, 1], [other, 1])
    return [mix([spoken, 1], [noise(0.1), 1]), mix([spoken, 1], [noise(0.1), 1])]
  })
  assert.deepEqual(channelsOf(groups), [[0, 1]])
  assert.equal(groups[0]!.sources.length, 2)
})

test('voices panned 70:30 are one group, while crosstalk at -10 dB or less is not', () => {
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

test('two people who talk at once are separate parties despite crosstalk', () => {
  const [first, second] = readers()
  const groups = (planes: Float32Array[]) => {
    const analysis = createChannelAnalysis(2)
    analysis.write(planes as Float32Array<ArrayBuffer>[], speechOf(planes, {}))
    return channelsOf(analysis.result('auto'))
  }
  for (const decibels of [-10, -12, -15, -20]) {
    for (const [foreground, others] of [
      [1, 1],
      [1, 0.3],
      [0.3, 1],
    ] as const) {
      const leak = 10 ** (decibels / 20)
      const one = mix([first, foreground], [second, foreground * leak])
      const other = mix([second, others], [first, others * leak])
      assert.deepEqual(
        groups([one, other]),
        [[0], [1]],
        `${decibels} dB, gains ${foreground} ${others}`,
      )
    }
  }
  assert.deepEqual(groups([first, mix([first, 0.25])]), [[0], [1]])
  const hiss = (n: number) => NOISE.subarray(n * first.length, (n + 1) * first.length)
  const panned = [
    mix([first, 0.7], [second, 0.3], [hiss(0), 0.01]),
    mix([first, 0.3], [second, 0.7], [hiss(1), 0.01]),
  ]
  assert.deepEqual(groups(panned), [[0, 1]])
})

test('unrelated audio of equal level, or equal audio without speech, is no group', () => {
  const unrelated = groupsOf(({ noise }) => [noise(0.3), noise(0.3)])
  assert.deepEqual(channelsOf(unrelated), [[0], [1]])
  const alike = ({ voice, other, noise }: Turn) => {
    const music = mix([voice, 1], [other, 1])
    return [mix([music, 1], [noise(0.01), 1]), music]
  }
  assert.deepEqual(channelsOf(groupsOf(alike, { speaking: [] })), [[0], [1]])
})

test('loudness that repeats later in the other channel does not shift the voice', () => {
  const groups = groupsOf(({ voice, other, noise }) => {
    const spoken = mix([voice, 1], [other, 1])
    const bursts = () => noise(0.3).map((sample, i) => (i % 14_000 < 7000 ? sample : 0))
    return [mix([spoken, 1], [bursts(), 1]), mix([spoken, 1], [bursts(), 1, 3072])]
  })
  assert.deepEqual(channelsOf(groups), [[0, 1]])
})

test('a delayed copy is aligned before it is mixed', () => {
  const [group] = groupsOf(({ voice, other, noise }) => {
    const spoken = mix([voice, 1], [other, 1])
    return [mix([spoken, 1], [noise(0.002), 1]), mix([spoken, 0.9, 320], [noise(0.003), 1])]
  })
  assert.deepEqual(group!.sources, [
    { channel: 0, delay: 0 },
    { channel: 1, delay: 320 },
  ])
})

test('one voice up to a second apart is one group, of which one channel is used', () => {
  for (const delays of [
    [0, 3200],
    [3200, 0],
    [0, 11_200],
    [15_000, 0],
  ] as const) {
    const groups = groupsOf(({ voice, other, noise }) => {
      const spoken = mix([voice, 1], [other, 1])
      return delays.map((delay, i) => mix([spoken, 1, delay], [noise(0.002 + 0.002 * i), 1]))
    })
    assert.deepEqual(channelsOf(groups), [[0, 1]])
    assert.deepEqual(groups[0]!.sources, [{ channel: 0, delay: 0 }])
  }
})

test('of channels in antiphase, or a clean and a noisy one, only the better is used', () => {
  for (const [gain, level, best] of [
    [-1, 0.003, 0],
    [1, 0.1, 0],
    [1, 0.0002, 1],
  ] as const) {
    const groups = groupsOf(({ voice, other, noise }) => {
      const spoken = mix([voice, 1], [other, 1])
      return [mix([spoken, 1], [noise(0.002), 1]), mix([spoken, gain], [noise(level), 1])]
    })
    assert.deepEqual(channelsOf(groups), [[0, 1]])
    assert.deepEqual(groups[0]!.sources, [{ channel: best, delay: 0 }])
  }
})

test('a film is one group, recognized from its center channel', () => {
  const groups = groupsOf(
    ({ voice, other, noise }) => {
      const spoken = mix([voice, 1], [other, 1])
      const side = () => mix([spoken, 0.3], [noise(0.15), 1])
      const back = () => noise(0.05)
      return [side(), side(), mix([spoken, 1], [noise(0.002), 1]), noise(0.001), back(), back()]
    },
    { speaking: [0, 1, 2], center: 2 },
  )
  assert.deepEqual(channelsOf(groups), [[0, 1, 2, 3, 4, 5]])
  assert.deepEqual(groups[0]!.sources, [{ channel: 2, delay: 0 }])
})

test('a film with separate music, speech and silence is one group', () => {
  const spoken = ({ voice, other }: Turn) => mix([voice, 1], [other, 1])
  const silence = new Float32Array(SAMPLES)
  const music = (turn: Turn) => [turn.noise(0.2), turn.noise(0.2), spoken(turn), silence]
  assert.deepEqual(channelsOf(groupsOf(music, { speaking: [2], center: 2 })), [[0, 1, 2, 3]])
  // Now and then, the music passes for speech.
  assert.deepEqual(channelsOf(groupsOf(music, { center: 2, turns: 12, mistaken: 5 })), [
    [0, 1, 2, 3],
  ])
  const mute = (turn: Turn) => [silence, spoken(turn)]
  assert.deepEqual(channelsOf(groupsOf(mute, { speaking: [1], center: 1 })), [[0, 1]])
})

test('a voice besides the center of a possible film is a separate party', () => {
  const groups = groupsOf(({ voice, other }) => [other, voice], { center: 1 })
  assert.deepEqual(channelsOf(groups), [[0], [1]])
})

test('speech beside silence or music is a separate party', () => {
  const groups = groupsOf(({ voice, other, noise }) => [noise(0.2), mix([voice, 1], [other, 1])], {
    speaking: [1],
  })
  assert.deepEqual(channelsOf(groups), [[0], [1]])
})

test('a group is not recognized from a channel that is silent except for a moment', () => {
  let turn = 0
  const silence = new Float32Array(SAMPLES)
  const record = ({ voice, other, noise }: Turn) => {
    const spoken = mix([voice, 1], [other, 1])
    const side = () => mix([spoken, 0.6], [noise(0.05), 1])
    const burst = turn++ === 9 ? noise(0.3).fill(0, 0, 8192) : silence
    return [side(), mix([spoken, 1], [noise(0.02), 1]), burst]
  }
  const isHeard = (plane: Float32Array) => plane !== silence
  const groups = groupsOf(record, { turns: 16, isHeard })
  assert.deepEqual(channelsOf(groups), [[0, 1, 2]])
  assert.deepEqual(groups[0]!.sources[0], { channel: 1, delay: 0 })
})

test('a rare speaker besides the center makes a possible film separate parties', () => {
  let turn = 0
  const silence = new Float32Array(SAMPLES)
  const record = ({ voice, other }: Turn) => {
    const spoken = mix([voice, 1], [other, 1])
    const isQuestion = turn++ === 9
    const [talker, asker] = isQuestion ? [silence, spoken] : [spoken, silence]
    return [silence, silence, talker, silence, asker, silence]
  }
  // Each is heard only where it is not silent.
  const groups = groupsOf(record, {
    turns: 16,
    center: 2,
    isHeard: (plane) => plane.some((one) => one !== 0),
  })
  assert.deepEqual(channelsOf(groups), [[0], [1], [2], [3], [4], [5]])
})

test('a muted channel is separate from a voice', () => {
  const silence = new Float32Array(SAMPLES)
  const record = ({ noise }: Turn) => {
    const voices = [noise(0.3), noise(0.2)].map((voice) => voice.fill(0, 0, 8192))
    return [voices[0]!, silence, voices[1]!]
  }
  assert.deepEqual(channelsOf(groupsOf(record, { speaking: [0, 2] })), [[0], [1], [2]])
})

test('an explicit channel mode overrides the analysis', () => {
  const record = ({ voice, other }: Turn) => [voice, other]
  assert.deepEqual(channelsOf(groupsOf(record, { mode: 'mix' })), [[0, 1]])
  const same = ({ voice, noise }: Turn) => [mix([voice, 1], [noise(0.01), 1]), voice]
  assert.deepEqual(channelsOf(groupsOf(same, { mode: 'separate' })), [[0], [1]])
})

test('a mix of separate parties holds them all, also those that speak once', () => {
  let turn = 0
  const record = ({ voice, other, noise }: Turn) => {
    const spoken = mix([voice, 1], [other, 1])
    const [talker, asker] = turn++ === 5 ? [noise(0.001), spoken] : [spoken, noise(0.001)]
    return [mix([talker, 1], [noise(0.002), 1]), mix([asker, 1], [noise(0.002), 1])]
  }
  const isHeard = (plane: Float32Array) => plane.some((sample) => sample > 0.1)
  const groups = groupsOf(record, { mode: 'mix', turns: 12, isHeard })
  assert.deepEqual(sourcesOf(groups), [[0, 1]])
})

test('a mix of one sound twice, a second apart, is recognized from one of them', () => {
  const spoken = new Float32Array(4 * SAMPLES)
  for (const [n, voice] of readers().entries()) spoken.set(voice, n * 64_000 + 8000)
  const later = new Float32Array(spoken.length)
  later.set(spoken.subarray(0, spoken.length - 16_000), 16_000)
  const analysis = createChannelAnalysis(2)
  for (let at = 0; at < spoken.length; at += WINDOW_SAMPLES) {
    const planes = [spoken, later].map((plane) => plane.slice(at, at + WINDOW_SAMPLES))
    analysis.write(planes as Float32Array<ArrayBuffer>[], speechOf(planes, { speaking: [0, 1] }))
  }
  assert.equal(analysis.result('mix')[0]!.sources.length, 1)
})

test('parties beside a mix of all are recognized from the mix, though it is noisier', () => {
  const silence = new Float32Array(SAMPLES)
  for (const speakers of [
    [0, 1, 2, 0, 0],
    [0, 1, 2],
  ]) {
    let turn = 0
    const record = ({ voice, other, noise }: Turn) => {
      const spoken = mix([voice, 1], [other, 1])
      const speaker = speakers[turn++ % speakers.length]
      const alone = [0, 1, 2].map((party) => (party === speaker ? spoken : silence))
      return [...alone, spoken].map((sound, i) => mix([sound, 1], [noise(0.001 + 0.002 * i), 1]))
    }
    const isHeard = (plane: Float32Array) => plane.some((sample) => sample > 0.1)
    const groups = groupsOf(record, { turns: 10, isHeard })
    assert.deepEqual(channelsOf(groups), [[0, 1, 2, 3]])
    assert.equal(groups[0]!.sources[0]!.channel, 3)
  }
})

test('a call that becomes mono in the middle has separate parties', () => {
  let turn = 0
  const silence = new Float32Array(SAMPLES)
  const record = ({ voice, other, noise }: Turn) => {
    const spoken = mix([voice, 1], [other, 1])
    const quieter = mix([spoken, 0.4])
    const speaker = [0, 1, 1, 0][turn++]
    const alone = [0, 1].map((party) => (party === speaker ? spoken : silence))
    const parties = speaker === undefined ? [quieter, quieter] : alone
    return parties.map((party) => mix([party, 1], [noise(0.002), 1]))
  }
  const isHeard = (plane: Float32Array) => plane.some((sample) => sample > 0.1)
  assert.deepEqual(channelsOf(groupsOf(record, { turns: 9, isHeard })), [[0], [1]])
  turn = 0
  assert.deepEqual(sourcesOf(groupsOf(record, { turns: 9, isHeard, mode: 'mix' })), [[0, 1]])
})

test('what leaks from a third channel does not make two parties one', () => {
  const silence = new Float32Array(SAMPLES)
  // The third party talks most of the time; the others talk three times, or once.
  for (const period of [8, 24]) {
    let turn = 0
    const record = ({ voice, other, noise }: Turn) => {
      const spoken = mix([voice, 1], [other, 1])
      const speaker = { 0: 0, 4: 1 }[turn++ % period] ?? 2
      if (speaker < 2) spoken.fill(0, 18_000)
      const parties = [0, 1, 2].map((party) => (party === speaker ? spoken : silence))
      return parties.map((party) => mix([party, 1], [spoken, 0.2], [noise(0.001), 1]))
    }
    assert.deepEqual(channelsOf(groupsOf(record, { turns: 24 })), [[0], [1], [2]])
  }
})

test('the levels of two parties tell how much louder a channel was recorded', () => {
  const record = ({ gain, leak = 0.2 }: { gain: number; leak?: number }) => {
    const analysis = createChannelAnalysis(2)
    for (let n = 0; n < 4; n++) {
      const spoken = NOISE.slice(n * SAMPLES, (n + 1) * SAMPLES).fill(0, 0, 8192)
      const [voice, other] = n % 2 === 0 ? [1, leak] : [leak, 1]
      const planes = [mix([spoken, 0.3 * voice]), mix([spoken, 0.3 * other * gain])]
      analysis.write(planes as Float32Array<ArrayBuffer>[], speechOf(planes, { from: 16 }))
    }
    return analysis.balance(0, 1)
  }
  const near = (actual: number, expected: number) => {
    assert.ok(Math.abs(actual - expected) < 1, `${actual} instead of ${expected}`)
  }
  near(record({ gain: 4 }), 12)
  near(record({ gain: 0.25 }), -12)
  // Where each channel is louder anyway, and with one group, the gain does not matter.
  assert.equal(record({ gain: 1 }), 0)
  assert.equal(record({ gain: 1, leak: 0.7 }), 0)
})
