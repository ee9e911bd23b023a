import assert from 'node:assert/strict'
import test from 'node:test'
import type { LiveRecognizer } from '../../asr/live-recognizer.ts'
import { MAX_DETECT_FRAMES } from '../../asr/live-recognizer.ts'
import type { SpeakerCounts } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'
import { createLog } from '../../log.ts'
import type { SessionText } from '../../text/live/live-text.ts'
import type { Snapshot } from '../recovery/session-log.ts'
import { plainText } from '../result/plain-text.fixture.ts'
import type { ChannelEvent } from './channel.ts'
import { RecognitionLoop } from './recognition-loop.ts'
import { createSessionLanguage } from './session-language.ts'

const FRAME = 512

type Options = {
  /** Called before a call is answered. */
  before?: (
    kind: 'listen' | 'final' | 'partial',
    segment?: { start: number; end: number },
  ) => unknown
  partials?: boolean
  from?: Snapshot
  text?: string
  change?: SessionText['change']
  /** Requests diarization; utterances of the same frame count share a speaker. */
  speakers?: SpeakerCounts
}

/**
 * Opens a session of drawn audio, a character per 32 ms and a string per channel: `#` is speech. A
 * final states which frames it was made of, a partial how many.
 */
function open(channels: readonly string[], options: Options = {}) {
  const { before, partials = false, from, text, speakers } = options
  const told: string[] = []
  const snapshots: Snapshot[] = []
  const calls: string[] = []
  const listened: number[] = []
  const leaving = new AbortController()
  const ears: LiveRecognizer = {
    capacity: undefined,
    async listen({ channels: paths }, { from: at, frames }, { signal }) {
      await before?.('listen')
      listened.push(at)
      signal.throwIfAborted()
      const end = Math.min(at + MAX_DETECT_FRAMES, Math.floor(frames / FRAME))
      const heard = paths.map((_, i) => [...channels[i]!.slice(at, Math.max(at, end))])
      return {
        probabilities: heard.map((frames) => Float32Array.from(frames, (c) => (c === '#' ? 1 : 0))),
        levels: heard.map((frames) => new Float32Array(frames.length).fill(-30)),
      }
    },
    async recognizeFinal({ path, segment }, { signal, language = 'en', wantsSpeaker = false }) {
      calls.push(`final ${path}${wantsSpeaker ? ' with voice' : ''}`)
      await before?.('final', segment)
      signal.throwIfAborted()
      const said = text ?? `${Math.round(segment.start / FRAME)}-${segment.end / FRAME}`
      const [start, end] = [segment.start / 16_000, segment.end / 16_000]
      const words = said === '' ? [] : [{ text: said, start, end, confidence: 1 }]
      const embedding = new Float32Array(100)
      embedding[Math.round((segment.end - segment.start) / FRAME)] = 1
      return {
        words,
        language,
        warnings: [],
        ...(wantsSpeaker && { voice: { embedding, seconds: 2 } }),
      }
    },
    async recognizePartial({ segment }, { signal, language = 'en' }) {
      await before?.('partial', segment)
      signal.throwIfAborted()
      const [start, end] = [segment.start / 16_000, segment.end / 16_000]
      const words = [{ text: `${segment.end / FRAME}`, start, end, confidence: 1 }]
      return { words, language, draft: [] }
    },
  }
  const hearing = new RecognitionLoop(
    {
      ears,
      sound: {
        path: 'sound',
        start: 0,
        format: { encoding: 's16', sampleRate: 16_000, channels: channels.length },
        isEnhanced: false,
        channels: channels.map((_, i) => `channel ${i}`),
      },
      endpointing: { threshold: 0.6, hangover: 0.25, endpointing: 0.05, maxSeconds: 5 },
      language: createSessionLanguage(
        { languages: [], code_switching: false },
        { installed: ['en', 'fr'] },
      ),
      change: options.change ?? plainText.change,
      speakers,
      partialIntervalMs: 0,
      tell: (event) => told.push(written(event)),
      wantsPartials: () => partials,
      onHeard() {},
      onSnapshot: (snapshot) => snapshots.push(snapshot),
      log: createLog('silent'),
      signal: leaving.signal,
    },
    from,
  )
  const hear = async (frames = channels[0]!.length) => {
    hearing.grown(frames * FRAME)
    hearing.end()
    await hearing.run()
    return told
  }
  return { hearing, hear, told, snapshots, calls, listened, leaving }
}

function written(event: ChannelEvent): string {
  if (event.type === 'speech_start' || event.type === 'speech_end') {
    return `${event.type} ${event.channel} ${Math.round(event.time / 0.032)}`
  }
  const failed = event.type === 'final' && event.error !== undefined ? ' failed' : ''
  const { speaker } = event.view
  const spoken = speaker === undefined ? '' : ` by ${speaker}`
  return `${event.type} ${event.channel} ${event.number}${event.view.text}${spoken}${failed}`
}

const pause = '.'.repeat(12)
const speech = '#'.repeat(20)

test('an utterance is told with its speech events, its final last', async () => {
  const { hear } = open([`..........${speech}${pause}`])
  assert.deepEqual(await hear(), ['speech_start 0 10', 'speech_end 0 30', 'final 0 0 1-34'])
})

test('finals of a channel are told in order, though the first takes longest', async () => {
  const first = Promise.withResolvers<void>()
  const { hear, told } = open([`${speech}${pause}${pause}${speech}${pause}`], {
    before: (kind, segment) => {
      if (kind !== 'final') return
      if (segment!.start === 0) return first.promise
      first.resolve()
    },
  })
  await hear()
  assert.deepEqual(
    told.filter((what) => what.startsWith('final')),
    ['final 0 0 0-24', 'final 0 1 35-68'],
  )
})

test('where utterances touch, the second begins behind the last word of the first', async () => {
  const { hear, told, snapshots } = open([`${'#'.repeat(200)}${pause}`])
  await hear()
  const [first, second] = told.filter((what) => what.startsWith('final'))
  const end = Number(/-([\d.]+)$/.exec(first!)![1])
  const start = Number(/ ([\d.]+)-/.exec(second!)![1])
  assert.equal(start, Math.round(end - 0.05 / 0.032))
  assert.ok(snapshots.length > 0)
})

test('channels do not wait for each other', async () => {
  const release = Promise.withResolvers<void>()
  const { hear, told } = open([`${speech}${pause}`, `${speech}${pause}`], {
    before: (kind) => (kind === 'final' && told.length < 4 ? undefined : release.resolve()),
  })
  await hear()
  assert.deepEqual(told.filter((what) => what.startsWith('final')).length, 2)
})

test('a final is begun in the pause and used when silence lasts', async () => {
  const { hear, calls } = open([`${speech}${pause}`])
  await hear()
  assert.deepEqual(calls, ['final channel 0'])
})

test('a final that was begun too early is not told', async () => {
  const { hear, told } = open([`${speech}......${speech}${pause}`])
  await hear()
  assert.deepEqual(
    told.filter((what) => what.startsWith('final')),
    ['final 0 0 0-50'],
  )
})

test('partials come while the utterance is open, and never after its final', async () => {
  const { hear } = open([`${'#'.repeat(60)}${pause}`], { partials: true })
  const told = await hear()
  const partials = told.filter((what) => what.startsWith('partial'))
  assert.ok(partials.length >= 1)
  assert.ok(told.indexOf(partials.at(-1)!) < told.indexOf('speech_end 0 60'))
  assert.equal(told.at(-1), 'final 0 0 0-64')
})

test('nobody wants partials: none is made', async () => {
  const { hear } = open([`${'#'.repeat(60)}${pause}`])
  assert.ok((await hear()).every((what) => !what.startsWith('partial')))
})

test('an engine whose process died is asked again, and the text is the same', async () => {
  let failures = 2
  const { hear } = open([`${speech}${pause}`], {
    before: (kind) => {
      if (kind === 'final' && failures-- > 1) throw new AppError('engine_failed')
    },
  })
  assert.equal((await hear()).at(-1), 'final 0 0 0-24')
})

test('a mistake in the program is told of the utterance, and hearing goes on', async () => {
  const { hear } = open([`${speech}${pause}${speech}${pause}`], {
    before: (kind, segment) => {
      if (kind === 'final' && segment!.start === 0) throw new TypeError('a mistake')
    },
  })
  const told = await hear()
  assert.ok(told.includes('final 0 0 failed'))
  assert.ok(told.includes('final 0 1 24-56'))
})

test('sound that comes piece by piece is heard like sound that is there at once', async () => {
  const sound = `${speech}${pause}${'#'.repeat(200)}${pause}`
  const { hear: once } = open([sound])
  const { hearing, told } = open([sound])
  const running = hearing.run()
  for (let frames = 0; frames <= sound.length; frames += 0.3) {
    hearing.grown(Math.floor(frames * FRAME))
    if (frames % 5 < 0.3) await new Promise(setImmediate)
  }
  hearing.grown(sound.length * FRAME)
  hearing.end()
  await running
  const whole = await once()
  for (const kind of ['speech', 'final']) {
    const ofKind = (all: readonly string[]) => all.filter((what) => what.startsWith(kind))
    assert.deepEqual(ofKind(told), ofKind(whole))
  }
})

test('from any snapshot on, the rest is heard as if nothing had been', async () => {
  const sound = `${'#'.repeat(150)}${pause}${speech}${pause}${'#'.repeat(180)}${pause}${speech}${pause}`
  const release = Promise.withResolvers<void>()
  const { hear, snapshots, told } = open([sound], {
    before: (kind) => kind === 'final' && undefined,
  })
  await hear()
  release.resolve()
  assert.ok(snapshots.length >= 2)
  for (const snapshot of snapshots) {
    const resumed = open([sound], { from: JSON.parse(JSON.stringify(snapshot)) })
    const rest = await resumed.hear()
    const finals = (all: readonly string[]) => all.filter((what) => what.startsWith('final'))
    assert.deepEqual(finals(rest), finals(told).slice(-finals(rest).length))
    assert.deepEqual(
      rest.filter((what) => what.startsWith('speech')),
      told.filter((what) => what.startsWith('speech')).slice(-rest.length + finals(rest).length),
    )
  }
})

test('utterances whose final was under way at the snapshot are recognised after it', async () => {
  const held = new Promise<void>(() => {})
  const sound = `${speech}${pause}${'.'.repeat(160)}`
  const first = open([sound], { before: (kind) => (kind === 'final' ? held : undefined) })
  first.hearing.grown(sound.length * FRAME)
  void first.hearing.run().catch(() => {})
  while (first.snapshots.length === 0) await new Promise(setImmediate)
  const [snapshot] = first.snapshots
  first.leaving.abort()
  assert.equal(snapshot!.ended.length, 1)
  const resumed = open([sound], { from: snapshot! })
  assert.deepEqual(await resumed.hear(), ['final 0 0 0-24'])
})

const finalsIn = (all: readonly string[]) => all.filter((what) => what.startsWith('final'))

/** Marks every word; those of finals wait for `final`, those of partials for `partial`. */
function marking({ final, partial }: { final?: Promise<void>; partial?: Promise<void> }) {
  const change: SessionText['change'] = async ({ words }, { isPartial }) => {
    await (isPartial ? partial : final)
    return words.map((word) => ({ ...word, text: `${word.text}!` }))
  }
  return change
}

test('finals and partials are told in changed words, a final also behind a slow partial', async () => {
  const slow = new Promise<void>(() => {})
  const sound = `${'#'.repeat(60)}${pause}`
  const { hear } = open([sound], { partials: true, change: marking({}) })
  const told = await hear()
  assert.ok(told.some((what) => what.startsWith('partial') && what.endsWith('!')))
  assert.equal(told.at(-1), 'final 0 0 0-64!')
  const held = open([sound], { partials: true, change: marking({ partial: slow }) })
  assert.deepEqual(
    (await held.hear()).filter((what) => !what.startsWith('speech')),
    ['final 0 0 0-64!'],
  )
})

test('finals stay in order while words are changed, and a snapshot in between loses none', async () => {
  const slow = Promise.withResolvers<void>()
  const sound = `${'#'.repeat(170)}${pause}${'.'.repeat(160)}`
  const first = open([sound], { change: marking({ final: slow.promise }) })
  first.hearing.grown(sound.length * FRAME)
  first.hearing.end()
  const running = first.hearing.run()
  while (first.snapshots.length < 2) await new Promise(setImmediate)
  assert.deepEqual(finalsIn(first.told), [])
  const snapshot = JSON.parse(JSON.stringify(first.snapshots[1])) as Snapshot
  assert.deepEqual([snapshot.language, snapshot.channels[0]!.lastWord], [null, null])
  slow.resolve()
  await running
  const resumed = open([sound], { change: marking({}), from: snapshot })
  assert.equal(finalsIn(first.told).length, 2)
  assert.deepEqual(finalsIn(await resumed.hear()), finalsIn(first.told))
})

test('a session that is left hears no more', async () => {
  const { hearing, leaving } = open([speech])
  const running = hearing.run()
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
].map((sound) => sound.slice(0, 300))
const speakers = { min: 4 }
const bySpeaker = (all: readonly string[]) =>
  finalsIn(all).map((what) => what.replace(/ [\d.]+-/, ' -'))

test('speakers are counted in the order in which utterances end, whichever is recognised first', async () => {
  const { hear } = open(talk, { speakers })
  const told = finalsIn(await hear())
  assert.equal(new Set(told.map((what) => what.at(-1))).size, 4)
  const slow = Promise.withResolvers<void>()
  let finals = 0
  const { hear: again } = open(talk, {
    speakers,
    before: (kind, segment) => {
      if (kind !== 'final') return
      // The very first is answered after all others.
      if (++finals === told.length) slow.resolve()
      if (segment!.start === 0 && finals === 1) return slow.promise
    },
  })
  assert.deepEqual(finalsIn(await again()), told)
})

test('from any snapshot on the speakers are the same, also of utterances that were under way', async () => {
  const { hear } = open(talk, { speakers })
  const whole = bySpeaker(await hear())
  const held = Promise.withResolvers<void>()
  const first = open(talk, {
    speakers,
    before: (kind) => (kind === 'final' ? held.promise : undefined),
  })
  first.hearing.grown(talk[0]!.length * FRAME)
  void first.hearing.run().catch(() => {})
  while (first.snapshots.length === 0) await new Promise(setImmediate)
  first.leaving.abort()
  const undisturbed = open(talk, { speakers })
  await undisturbed.hear()
  for (const snapshot of [...first.snapshots, ...undisturbed.snapshots]) {
    const from = JSON.parse(JSON.stringify(snapshot)) as Snapshot
    const rest = bySpeaker(await open(talk, { speakers, from }).hear())
    assert.deepEqual(rest, whole.slice(whole.length - rest.length))
  }
  assert.ok(first.snapshots[0]!.ended.length > 1)
})

test('a final that fails time after time is asked for without its voice', async () => {
  let deaths = 2
  const { hear, calls } = open([`${long}${pause}`], {
    speakers,
    before: (kind) => {
      if (kind === 'final' && deaths-- > 0) throw new AppError('engine_failed')
    },
  })
  assert.deepEqual(finalsIn(await hear()), ['final 0 0 0-24'])
  const asked = 'final channel 0 with voice'
  assert.deepEqual(calls, [asked, asked, 'final channel 0'])
})

test('all samples can be written again when all was heard, and what was told stays', async () => {
  const { hear, hearing, listened, told } = open([`${long}${pause}${'.'.repeat(100)}`])
  await hear()
  const whole = listened.splice(0)
  const before = [...told]
  await hearing.restoreAllSamples(new AbortController().signal)
  assert.deepEqual(listened, whole)
  assert.deepEqual(told, before)
  const stopped = AbortSignal.abort(new Error('too late'))
  await assert.rejects(hearing.restoreAllSamples(stopped), /too late/)
})
