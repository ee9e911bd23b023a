import assert from 'node:assert/strict'
import test from 'node:test'
import { FRAME, finalsIn, open } from '../../../test/support/live/sessions/test-recognition-loop.ts'
import { AppError } from '../../errors.ts'
import type { SessionText } from '../../text/live/session-text.ts'
import type { Snapshot } from '../journal/log-records.ts'

const pause = '.'.repeat(12)
const speech = '#'.repeat(20)

test('an utterance is reported after its speech events', async () => {
  const { advance } = open([`..........${speech}${pause}`])
  assert.deepEqual(await advance(), ['speech_start 0 10', 'speech_end 0 30', 'final 0 0 1-34'])
})

test('finals of a channel are reported in order', async () => {
  const first = Promise.withResolvers<void>()
  const { advance, reported } = open([`${speech}${pause}${pause}${speech}${pause}`], {
    before: (kind, segment) => {
      if (kind !== 'final') return
      if (segment!.start === 0) return first.promise
      first.resolve()
    },
  })
  await advance()
  assert.deepEqual(
    reported.filter((line) => line.startsWith('final')),
    ['final 0 0 0-24', 'final 0 1 35-68'],
  )
})

test('an adjacent utterance starts after the last word of the previous one', async () => {
  const { advance, reported, snapshots } = open([`${'#'.repeat(200)}${pause}`])
  await advance()
  const [first, second] = reported.filter((line) => line.startsWith('final'))
  const end = Number(/-([\d.]+)$/.exec(first!)![1])
  const start = Number(/ ([\d.]+)-/.exec(second!)![1])
  assert.equal(start, Math.round(end - 0.05 / 0.032))
  assert.ok(snapshots.length > 0)
})

test('a duplicate word of adjacent utterances is dropped unless said twice', async () => {
  const finals = async (wordBefore: string) => {
    const { advance, reported } = open([`${'#'.repeat(200)}${pause}`], { text: 'zero', wordBefore })
    await advance()
    return reported.filter((line) => line.startsWith('final'))
  }
  assert.deepEqual(await finals('the'), ['final 0 0 zero', 'final 0 1'])
  assert.deepEqual(await finals('Zero,'), ['final 0 0 zero', 'final 0 1 zero'])
})

test('channels are recognized independently', async () => {
  const release = Promise.withResolvers<void>()
  const { advance, reported } = open([`${speech}${pause}`, `${speech}${pause}`], {
    before: (kind) => (kind === 'final' && reported.length < 4 ? undefined : release.resolve()),
  })
  await advance()
  assert.deepEqual(reported.filter((line) => line.startsWith('final')).length, 2)
})

test('a final started in the pause is used if silence continues', async () => {
  const { advance, calls } = open([`${speech}${pause}`])
  await advance()
  assert.deepEqual(calls, ['final channel 0'])
})

test('a final started too early is not reported', async () => {
  const { advance, reported } = open([`${speech}......${speech}${pause}`])
  await advance()
  assert.deepEqual(
    reported.filter((line) => line.startsWith('final')),
    ['final 0 0 0-50'],
  )
})

test('partials are reported while the utterance is open, and not after its final', async () => {
  const { advance } = open([`${'#'.repeat(60)}${pause}`], { partials: true })
  const reported = await advance()
  const partials = reported.filter((line) => line.startsWith('partial'))
  assert.ok(partials.length >= 1)
  assert.ok(reported.indexOf(partials.at(-1)!) < reported.indexOf('speech_end 0 60'))
  assert.equal(reported.at(-1), 'final 0 0 0-64')
})

test('a partial is recognized during the previous final and reported after it', async () => {
  const partial = Promise.withResolvers<void>()
  const { advance } = open([`${speech}${pause}${speech}${pause}`], {
    partials: true,
    before: (kind, segment) => {
      if (segment?.start === 0) return kind === 'final' ? partial.promise : undefined
      if (kind === 'partial') partial.resolve()
    },
  })
  const reported = await advance()
  const transcripts = reported.filter((line) => !line.startsWith('speech'))
  assert.match(transcripts.join(', '), /final 0 0 0-24, partial 0 1 \d+, final 0 1 24-56$/)
})

test('partials of two utterances are no closer than the interval', async () => {
  const { advance } = open([`${'#'.repeat(40)}${pause}${speech}${pause}`], {
    partials: true,
    partialIntervalMs: 1e9,
  })
  const reported = await advance()
  assert.deepEqual(
    reported.filter((line) => line.startsWith('partial')).map((line) => line.slice(0, 11)),
    ['partial 0 0'],
  )
})

test('the last partial of an utterance is the draft of its final', async () => {
  const { advance, drafts } = open([`${speech}${pause}${pause}${speech}${pause}`], {
    partials: true,
  })
  const reported = await advance()
  const lastPartials = [0, 1].map((number) => {
    return { text: '', model: 'm', tokens: [lastPartial(reported, number)] }
  })
  assert.deepEqual(drafts, lastPartials)
})

function lastPartial(reported: readonly string[], number: number): number {
  const begin = `partial 0 ${number}`
  return Number(reported.findLast((line) => line.startsWith(begin))?.slice(begin.length))
}

test('the draft of an adjacent utterance starts with words of the previous one', async () => {
  const { advance, drafts } = open([`${'#'.repeat(200)}${pause}`], { partials: true })
  const reported = await advance()
  const [first] = reported.filter((line) => line.startsWith('final'))
  const tokens = [lastPartial(reported, 1)]
  assert.equal(drafts.length, 2)
  assert.deepEqual(drafts[1], { text: first!.slice('final 0 0 '.length), model: 'm', tokens })
})

test('words that end before the audio of an utterance are not in its draft', async () => {
  const early = { text: 'early', start: 0.5, end: 1 }
  const late = { text: 'late', start: 3, end: 3.5 }
  const { advance, drafts } = open([`${'#'.repeat(200)}${pause}`], { words: [early, late] })
  await advance()
  assert.deepEqual(drafts[1], { text: 'late', tokens: [] })
})

test('without receive_partial_transcripts no partial is made', async () => {
  const { advance } = open([`${'#'.repeat(60)}${pause}`])
  assert.ok((await advance()).every((line) => !line.startsWith('partial')))
})

test('an engine call is retried after a crash with the same text', async () => {
  let failures = 2
  const { advance } = open([`${speech}${pause}`], {
    before: (kind) => {
      if (kind === 'final' && failures-- > 1) throw new AppError('engine_failed')
    },
  })
  assert.equal((await advance()).at(-1), 'final 0 0 0-24')
})

test('an unexpected error fails only its utterance', async () => {
  const { advance } = open([`${speech}${pause}${speech}${pause}`], {
    before: (kind, segment) => {
      if (kind === 'final' && segment!.start === 0) throw new TypeError('a mistake')
    },
  })
  const reported = await advance()
  assert.ok(reported.includes('final 0 0 failed'))
  assert.ok(reported.includes('final 0 1 24-56'))
})

test('streamed audio is recognized like audio available at once', async () => {
  const audio = `${speech}${pause}${'#'.repeat(200)}${pause}`
  const { advance: once } = open([audio])
  const { recognition, run, reported } = open([audio])
  const running = run()
  for (let frames = 0; frames <= audio.length; frames += 0.3) {
    recognition.setAvailable(Math.floor(frames * FRAME))
    if (frames % 5 < 0.3) await new Promise(setImmediate)
  }
  recognition.setAvailable(audio.length * FRAME)
  recognition.end()
  await running
  const whole = await once()
  for (const kind of ['speech', 'final']) {
    const ofKind = (all: readonly string[]) => all.filter((line) => line.startsWith(kind))
    assert.deepEqual(ofKind(reported), ofKind(whole))
  }
})

test('the last final of a real-time session has normal priority', async () => {
  const { advance, yielding } = open([speech])
  await advance()
  assert.deepEqual(yielding, [false])
})

test('audio faster than real time is recognized at low priority', async () => {
  const utterance = `${speech}${pause}`
  const { recognition, run, yielding } = open([utterance.repeat(8)])
  const running = run()
  for (let frames = 0; frames <= 8 * utterance.length; frames++) {
    recognition.setAvailable(frames * FRAME)
    while (recognition.recognizedSeconds < (frames - 2) * 0.032) await new Promise(setImmediate)
  }
  recognition.end()
  await running
  assert.deepEqual(yielding, [false, false, true, true, true, true, true, true])
})

/** Marks every word; those of partials wait for `partial`. */
function marking({ partial }: { partial?: Promise<void> }) {
  const applyTransforms: SessionText['applyTransforms'] = async ({ words }, { isPartial }) => {
    if (isPartial) await partial
    return words.map((word) => ({ ...word, text: `${word.text}!` }))
  }
  return applyTransforms
}

test('finals and partials are sent with changed words', async () => {
  const slow = new Promise<void>(() => {})
  const audio = `${'#'.repeat(60)}${pause}`
  const { advance } = open([audio], { partials: true, applyTransforms: marking({}) })
  const reported = await advance()
  assert.ok(reported.some((line) => line.startsWith('partial') && line.endsWith('!')))
  assert.equal(reported.at(-1), 'final 0 0 0-64!')
  const held = open([audio], { partials: true, applyTransforms: marking({ partial: slow }) })
  assert.deepEqual(
    (await held.advance()).filter((line) => !line.startsWith('speech')),
    ['final 0 0 0-64!'],
  )
})

test('suspending a session stops recognition', async () => {
  const { run, leaving } = open([speech])
  const running = run()
  leaving.abort()
  await assert.rejects(running)
})

/**
 * Two channels of utterances of 10 and 20 frames, from two speakers; those of the second channel
 * end between those of the first.
 */
const [long, short, gap] = ['#'.repeat(20), '#'.repeat(10), '.'.repeat(20)]
const talk = [
  `${long}${gap}${short}${gap}${long}${gap}${short}${gap}${'.'.repeat(170)}`,
  `.....${long}${gap}.....${long}${gap}${long}${gap}${'.'.repeat(170)}`
    .padEnd(310, '.')
    .slice(0, 310),
].map((audio) => audio.slice(0, 300))
const speakers = { min: 4 }
const bySpeaker = (all: readonly string[]) =>
  finalsIn(all).map((line) => line.replace(/ [\d.]+-/, ' -'))

test('speakers are numbered in the order of utterances, not of recognition', async () => {
  const { advance } = open(talk, { speakers })
  const reported = finalsIn(await advance())
  assert.equal(new Set(reported.map((line) => line.at(-1))).size, 4)
  const slow = Promise.withResolvers<void>()
  let finals = 0
  const { advance: again } = open(talk, {
    speakers,
    before: (kind, segment) => {
      if (kind !== 'final') return
      // The very first is answered after all others.
      if (++finals === reported.length) slow.resolve()
      if (segment!.start === 0 && finals === 1) return slow.promise
    },
  })
  assert.deepEqual(finalsIn(await again()), reported)
})

test('speakers are the same from any snapshot, also for utterances in progress', async () => {
  const { advance } = open(talk, { speakers })
  const whole = bySpeaker(await advance())
  const held = Promise.withResolvers<void>()
  const first = open(talk, {
    speakers,
    before: (kind) => (kind === 'final' ? held.promise : undefined),
  })
  first.recognition.setAvailable(talk[0]!.length * FRAME)
  void first.run().catch(() => {})
  while (first.snapshots.length === 0) await new Promise(setImmediate)
  first.leaving.abort()
  const undisturbed = open(talk, { speakers })
  await undisturbed.advance()
  for (const snapshot of [...first.snapshots, ...undisturbed.snapshots]) {
    const from = JSON.parse(JSON.stringify(snapshot)) as Snapshot
    const rest = bySpeaker(await open(talk, { speakers, from }).advance())
    assert.deepEqual(rest, whole.slice(whole.length - rest.length))
  }
  assert.ok(first.snapshots[0]!.ended.length > 1)
})

test('a final that crashes repeatedly is retried without its speaker', async () => {
  let crashes = 2
  const { advance, calls } = open([`${long}${pause}`], {
    speakers,
    before: (kind) => {
      if (kind === 'final' && crashes-- > 0) throw new AppError('engine_failed')
    },
  })
  assert.deepEqual(finalsIn(await advance()), ['final 0 0 0-24'])
  const requested = 'final channel 0 with voice'
  assert.deepEqual(calls, [requested, requested, 'final channel 0'])
})

test('all samples can be restored at the end without changing reports', async () => {
  const { advance, recognition, detected, reported } = open([`${long}${pause}${'.'.repeat(100)}`])
  await advance()
  const whole = detected.splice(0)
  const before = [...reported]
  await recognition.restoreAllSamples(new AbortController().signal)
  assert.deepEqual(detected, whole)
  assert.deepEqual(reported, before)
  const stopped = AbortSignal.abort(new Error('too late'))
  await assert.rejects(recognition.restoreAllSamples(stopped), /too late/)
})

test('a session without partials weighs half of one with them', () => {
  const weightOf = (partials: boolean) => open(['#'], { partials }).recognition.load
  assert.ok(Math.abs(weightOf(false) / weightOf(true) - 0.5) < 0.01)
})

test('a busy machine starts no speculative final', async () => {
  const speech = [`${'#'.repeat(15)}${'.'.repeat(6)}${'#'.repeat(15)}${'.'.repeat(15)}`]
  const finals = async (load: number) => {
    const { advance, calls } = open(speech, { load })
    await advance()
    return calls.length
  }
  assert.ok((await finals(0)) > (await finals(1)))
  assert.equal(await finals(1), 1)
})
