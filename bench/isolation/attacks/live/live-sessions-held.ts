import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Attacker } from '../../attacker.ts'
import { readSamples } from '../speech.ts'
import { type Attacking, createSession, onSessions } from './live-sessions.ts'

const all = { receive_partial_transcripts: true, receive_lifecycle_events: true }
/** Common words, and those of the fake engine. */
const WORDS = 'the a of to in and he she was that it his her is i you for on with as one two three'

/** 16-bit audio at 16 kHz. */
const BYTES_PER_SECOND = 32_000

/** Sends speech, `pace` times as fast as real time, until the socket closes. */
async function speak({ signal, spend }: Attacker, session: Attacking, pace: number): Promise<void> {
  const speech = await readSamples()
  const bytes = BYTES_PER_SECOND / 10
  for (let at = 0; session.isOpen() && !signal.aborted && spend(bytes); at += bytes) {
    const from = at % (speech.length - bytes)
    if (session.socket.bufferedAmount < 10_000_000)
      session.socket.send(speech.subarray(from, from + bytes))
    await sleep(100 / pace)
  }
}

/** Runs sessions whose client sends audio and reads no messages. */
function unread(params: Record<string, unknown>, { concurrency = 4, pace = 4 } = {}): Attack {
  return {
    run(attacker) {
      return onSessions(
        attacker,
        { concurrency, params: { messages_config: all, ...params } },
        (session) => {
          session.wire.pause()
          return speak(attacker, session, pace)
        },
      )
    },
  }
}

const spelling = (length: number) => ({
  realtime_processing: {
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { ['K'.repeat(length)]: WORDS.split(' ') } },
    named_entity_recognition: true,
    sentiment_analysis: true,
  },
})

/** Entries that begin with a spoken word and are long; 700 kB in all. */
const vocabulary = {
  realtime_processing: {
    custom_vocabulary: true,
    custom_vocabulary_config: {
      default_intensity: 1,
      vocabulary: Array.from({ length: 10_000 }, (_, n) => `Country ${n} ${'fellow '.repeat(6)}`),
    },
  },
}

/** Words of up to 40 kB without a space. */
const longWord = {
  realtime_processing: {
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: ['country'.repeat(6000), 'e\u0301'.repeat(20_000)] },
    custom_spelling: true,
    custom_spelling_config: {
      spelling_dictionary: { Long: ['İ'.repeat(20_000), "a-'".repeat(15_000)] },
    },
  },
}

/** Runs up to 30 sessions that send `bytes` every second. */
function held(bytes: () => Buffer | undefined, params: Record<string, unknown> = {}): Attack {
  return {
    run(attacker) {
      return onSessions(attacker, { concurrency: 30, params }, async (session) => {
        while (session.isOpen() && !attacker.signal.aborted) {
          const audio = bytes()
          if (audio) session.socket.send(audio)
          await sleep(1000)
        }
      })
    },
  }
}

/** Creates sessions without connecting to them. */
const created: Attack = {
  run(attacker) {
    return attacker.repeat(4, async () => {
      if (!(await createSession(attacker))) await sleep(500)
    })
  },
}

/** Sends eight channels of 32-bit audio at 48 kHz, as fast as the server reads them. */
const wide: Attack = {
  run(attacker) {
    const params = { channels: 8, sample_rate: 48_000, bit_depth: 32 }
    const audio = Buffer.alloc(768_000, 'sound of eight channels, more or less')
    return onSessions(attacker, { concurrency: 3, params }, async ({ socket, isOpen }) => {
      while (isOpen() && attacker.spend(audio.length)) {
        if (socket.bufferedAmount < 8_000_000) socket.send(audio)
        await sleep(100)
      }
    })
  },
}

/** Attacks with sessions that are expensive for the server. */
export const sessionAttacks: Record<string, Attack> = {
  'live-unread': unread({}),
  'live-unread-fast': unread({}, { concurrency: 4, pace: 40 }),
  'live-spelling': unread(spelling(250_000)),
  'live-spelling-many': unread(spelling(20_000), { concurrency: 8, pace: 8 }),
  'live-vocabulary': unread(vocabulary),
  'live-long-words': unread(longWord),
  'live-silent': held(() => undefined),
  'live-silent-sound': held(() => Buffer.alloc(BYTES_PER_SECOND)),
  'live-created': created,
  'live-wide': wide,
}
