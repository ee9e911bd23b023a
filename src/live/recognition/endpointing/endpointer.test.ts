import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  createEndpointer,
  type EndpointerEvent,
  type EndpointerState,
  initialEndpointerState,
} from './endpointer.ts'
import { firstNeededSample, segmentsOf } from './utterance-segments.ts'

const options = { threshold: 0.6, hangover: 0.25, endpointing: 0.05, maxSeconds: 5 }

type Input = { probability: number; level: number }

/** One character per 32 ms: `#` is speech, `+` weak speech, `-` quiet speech, `.` silence. */
function read(audio: string): Input[] {
  const probabilities: Record<string, number> = { '#': 1, '+': 0.4, '-': 0.9 }
  return [...audio].map((c) => {
    return { probability: probabilities[c] ?? 0, level: c === '#' ? -20 : c === '-' ? -50 : -70 }
  })
}

function run(
  inputs: readonly Input[],
  { isEnd = true, ...changed }: Partial<typeof options> & { isEnd?: boolean } = {},
): EndpointerEvent[] {
  const { step, finish } = createEndpointer({ ...options, ...changed })
  const state = initialEndpointerState()
  const events = inputs.flatMap(({ probability, level }) => step(state, probability, level))
  return isEnd ? [...events, ...finish(state)] : events
}

/** `start 2`, `end 5`, `0:2-5` for an utterance; pauses are omitted. */
function words(events: readonly EndpointerEvent[]): string {
  return events
    .flatMap((event) => {
      if (event.type === 'speech_start') return [`start ${event.frame}`]
      if (event.type === 'speech_end') return [`end ${event.frame}`]
      const { number, from, to } = event.utterance
      return event.type === 'utterance' ? [`${number}:${from}-${to}`] : []
    })
    .join(', ')
}

test('speech starts at the first of three voiced frames', () => {
  assert.equal(words(run(read('..###'), { isEnd: false })), 'start 2')
  assert.equal(words(run(read('..##'), { isEnd: false })), '')
})

test('clicks are not speech, even when repeated', () => {
  assert.equal(words(run(read(`..##${'.'.repeat(20)}##${'.'.repeat(20)}`))), '')
})

test('voiced frames with short gaps count as speech', () => {
  assert.equal(words(run(read('#..#..#'), { isEnd: false })), 'start 0')
})

test('an utterance ends after the hangover and the endpointing', () => {
  assert.equal(words(run(read(`..####${'.'.repeat(9)}`), { isEnd: false })), 'start 2')
  const ended = 'start 2, end 6, 0:2-6'
  assert.equal(words(run(read(`..####${'.'.repeat(10)}`), { isEnd: false })), ended)
})

test('a gap shorter than the hangover does not end the utterance', () => {
  const events = run(read(`####${'.'.repeat(8)}####${'.'.repeat(10)}`), { isEnd: false })
  assert.equal(words(events), 'start 0, end 16, 0:0-16')
})

test('a longer endpointing joins speech across longer gaps', () => {
  const audio = read(`####${'.'.repeat(30)}####${'.'.repeat(12)}`)
  assert.equal(words(run(audio)), 'start 0, end 4, 0:0-4, start 34, end 38, 1:34-38')
  assert.equal(words(run(audio, { endpointing: 1 })), 'start 0, end 38, 0:0-38')
})

test('weak speech continues speech but does not start it', () => {
  assert.equal(words(run(read('..+++++..'))), '')
  assert.equal(words(run(read(`###++++${'.'.repeat(12)}`))), 'start 0, end 7, 0:0-7')
})

test('a higher threshold detects less speech', () => {
  const weak = [...'........'].map(() => ({ probability: 0.6, level: -20 }))
  assert.equal(words(run(weak)), 'start 0, end 8, 0:0-8')
  assert.equal(words(run(weak, { threshold: 0.8 })), '')
  assert.equal(words(run(read('....'), { threshold: 0 })), 'start 0, end 4, 0:0-4')
})

test('an overlong utterance is cut at its quietest point without a speech event', () => {
  const audio = read(`${'#'.repeat(125)}---${'#'.repeat(45)}${'.'.repeat(12)}`)
  assert.equal(words(run(audio)), 'start 0, 0:0-126, end 173, 1:126-173')
})

test('the silence after an utterance does not count as its length', () => {
  for (const silence of [1, 4, 12]) {
    const audio = read(`${'#'.repeat(149 - silence)}${'.'.repeat(40)}`)
    const [start, end] = ['start 0', `end ${149 - silence}`]
    const whole = `0:0-${149 - silence}`
    assert.equal(
      words(run(audio)),
      [start, ...(silence < 9 ? [whole, end] : [end, whole])].join(', '),
    )
  }
})

test('an utterance is not cut in its most recent frames', () => {
  const audio = read(`${'#'.repeat(140)}...${'#'.repeat(30)}${'.'.repeat(12)}`)
  const [, first] = run(audio).filter(({ type }) => type !== 'pause')
  assert.ok(first?.type === 'utterance' && first.utterance.to < 138)
})

test('after a cut in a pause the next utterance starts with the voice', () => {
  const audio = read(`${'#'.repeat(125)}${'.'.repeat(28)}###${'.'.repeat(30)}`)
  const events = run(audio, { endpointing: 0.7 })
  assert.equal(words(events), 'start 0, 0:0-125, end 156, 1:153-156')
})

test('speech that ends in the pause after a cut yields no further utterance', () => {
  const audio = read(`${'#'.repeat(125)}${'.'.repeat(60)}`)
  assert.equal(words(run(audio, { endpointing: 0.7 })), 'start 0, 0:0-125, end 125')
})

test('with a long endpointing, a pause is reported only when the end is near', () => {
  const silenceBefore = (spoken: number) => {
    const inputs = read(`${'#'.repeat(spoken)}${'.'.repeat(60)}`)
    const before = inputs.findIndex((_, i) => {
      const events = run(inputs.slice(0, i + 1), { isEnd: false, endpointing: 1.5, maxSeconds: 60 })
      return events.some(({ type }) => type === 'pause')
    })
    return before + 1 - spoken
  }
  // Silence ends the utterance after 55 frames.
  assert.deepEqual([10, 100, 200, 900].map(silenceBefore), [35, 26, 16, 4])
})

test('a pause event equals the utterance that follows if silence continues', () => {
  const events = run(read(`####${'.'.repeat(10)}`), { isEnd: false })
  const pause = events.find(({ type }) => type === 'pause')
  const utterance = events.find(({ type }) => type === 'utterance')
  assert.deepEqual(pause && { ...pause, type: 'utterance' }, utterance)
  assert.deepEqual(
    run(read('####...'), { isEnd: false }).filter(({ type }) => type === 'pause'),
    [],
  )
})

test('a fragment is recognized with the two before it, but not across other speech', () => {
  const silence = '.'.repeat(20)
  const digit = `${'#'.repeat(12)}${silence}`
  const talk = `${'#'.repeat(60)}${silence}`
  const far = '.'.repeat(50)
  const audio = read(digit.repeat(4) + talk + digit.repeat(2) + far + digit)
  const utterances = run(audio).flatMap((event) =>
    event.type === 'utterance' ? [event.utterance] : [],
  )
  assert.deepEqual(
    utterances.map(({ fragmentsBefore = [] }) => fragmentsBefore.map(({ start }) => start)),
    [[], [0], [0, 32], [32, 64], [], [], [208], []],
  )
  const state = { ...initialEndpointerState(), frame: 90 }
  const { segment, context, isAfterPause } = segmentsOf(utterances[2]!, { state, after: 48 * 512 })
  assert.deepEqual(segment, { start: 64 * 512 - 4800, end: 80 * 512 })
  const pauses = [12, 44].map((start) => {
    return { start: start * 512 + 1600, end: (start + 20) * 512 - 800 }
  })
  assert.deepEqual(context, { start: 0, end: segment.end, pauses })
  assert.ok(isAfterPause)
})

test('three fragments of one utterance are recognized without those before it', () => {
  const pause = '.'.repeat(10)
  const digits = (count: number) =>
    `${Array(count).fill('#'.repeat(12)).join(pause)}${'.'.repeat(40)}`
  const events = run(read(digits(1) + digits(2) + digits(3)), { endpointing: 0.7 })
  const counts = events.flatMap((event) =>
    event.type === 'utterance' ? [event.utterance.fragmentsBefore?.length ?? 0] : [],
  )
  assert.deepEqual(counts, [0, 1, 0])
})

test('audio before the open or the next utterance is needed as far as it may be context', () => {
  const { step } = createEndpointer(options)
  const state = initialEndpointerState()
  const audio = `${'#'.repeat(12)}${'.'.repeat(80)}`
  const needed = read(`${'.'.repeat(100)}${audio}`).map(({ probability, level }) => {
    step(state, probability, level)
    return firstNeededSample(state, 0) / 512
  })
  const context = (2 + 0.3) * 31.25
  const expected = [0, 100 - context, 100 - context, 100, 192 - context].map(Math.floor)
  assert.deepEqual(
    [50, 105, 120, 173, 191].map((at) => Math.floor(needed[at]!)),
    expected,
  )
  assert.equal(firstNeededSample(state, 1e7), 1e7 - 32_000)
})

test('fragments are cut in their last pause, and know the pauses between them', () => {
  const digit = `${'#'.repeat(12)}${'.'.repeat(10)}`
  const events = run(read(digit.repeat(9)), { endpointing: 0.7 })
  const utterances = events.flatMap((event) =>
    event.type === 'utterance' ? [event.utterance] : [],
  )
  assert.deepEqual(
    utterances.map(({ from, to, pauses }) => [from, to, pauses?.length]),
    [
      [0, 144, 6],
      [154, 188, 1],
    ],
  )
  const talk = run(read(`${'#'.repeat(60)}${'.'.repeat(10)}${'#'.repeat(20)}`), {
    endpointing: 0.7,
  })
  assert.ok(talk.every((event) => event.type !== 'utterance' || !event.utterance.pauses))
})

const sounds = fc.array(
  fc.record({ probability: fc.double({ min: 0, max: 1, noNaN: true }), level: fc.constant(-30) }),
  { maxLength: 1200 },
)

test('speech events alternate, and utterances ascend within the maximum length', () => {
  const longest = Math.ceil(options.maxSeconds / 0.032)
  fc.assert(
    fc.property(sounds, (audio) => {
      let [isSpeaking, number, end] = [false, 0, 0]
      for (const event of run(audio)) {
        if (event.type === 'pause') continue
        if (event.type === 'utterance') {
          const { from, to } = event.utterance
          assert.equal(event.utterance.number, number++)
          assert.ok(from >= end && to > from && to - from <= longest)
          end = to
        } else {
          assert.equal(event.type === 'speech_end', isSpeaking)
          isSpeaking = !isSpeaking
        }
      }
      assert.equal(isSpeaking, false)
    }),
  )
})

test('the endpointing state survives serialization', () => {
  fc.assert(
    fc.property(sounds, fc.nat(1200), (audio, at) => {
      const { step, finish } = createEndpointer(options)
      let state = initialEndpointerState()
      const events: EndpointerEvent[] = []
      for (const [i, { probability, level }] of audio.entries()) {
        if (i === at) state = JSON.parse(JSON.stringify(state)) as EndpointerState
        events.push(...step(state, probability, level))
      }
      assert.deepEqual([...events, ...finish(state)], run(audio))
    }),
  )
})
