import { setTimeout as sleep } from 'node:timers/promises'
import { wavOf } from '../../../support/wav.ts'
import type { Attack } from '../../attacker.ts'
import { createSession, flood, frame, join, onSessions, opcodes } from './live-sessions.ts'

/** Sends the same frames repeatedly on three sockets. */
function frames(...each: Buffer[]): Attack {
  return {
    run(attacker) {
      const concurrency = 3
      return onSessions(attacker, { concurrency }, (session) => {
        return flood(attacker, session, { frames: Buffer.concat(each), concurrency })
      })
    },
  }
}

const text = (value: string) => frame(opcodes.text, Buffer.from(value))
const chunk = (base64: string) =>
  text(JSON.stringify({ type: 'audio_chunk', data: { chunk: base64 } }))
const empty = Buffer.alloc(0)
const one = Buffer.alloc(1, 7)
const nonsense = frame(opcodes.text, Buffer.alloc(20_000, 'x'))

/** A message in fragments of one byte each. */
const fragments = [
  frame(opcodes.binary, one, false),
  ...Array.from({ length: 2000 }, () => frame(opcodes.continuation, one, false)),
  frame(opcodes.continuation, one, true),
]

/** A header of 44 bytes and one sample after it. */
function headed(): Buffer {
  return frame(opcodes.binary, wavOf(Buffer.alloc(2)))
}

/** Connects to one session and disconnects at once, in ten concurrent loops. */
const reconnect: Attack = {
  async run(attacker) {
    const session = await createSession(attacker)
    if (!session) return
    await attacker.repeat(10, async () => {
      const { socket } = await join(attacker, session)
      socket.send(Buffer.alloc(320, 1))
      await sleep(10)
      socket.terminate()
    })
  },
}

/** Connects with unknown tokens, in 20 concurrent loops. */
const unknownTokens: Attack = {
  run(attacker) {
    const url = `${attacker.url.replace('http', 'ws')}/v2/live?token=${'t'.repeat(22)}`
    return attacker.repeat(20, async () => {
      const { socket } = await join(attacker, { id: '', url })
      await new Promise((resolve) => socket.once('close', resolve))
    })
  },
}

/** Attacks with frames that are expensive to process. */
export const frameAttacks: Record<string, Attack> = {
  'live-tiny-frames': frames(frame(opcodes.binary, Buffer.from([1, 2]))),
  'live-odd-frames': frames(frame(opcodes.binary, one)),
  'live-empty-frames': frames(frame(opcodes.binary, empty)),
  'live-base64': frames(chunk('AQI=')),
  'live-base64-empty': frames(chunk('')),
  'live-base64-wrong': frames(chunk('*')),
  'live-text-nonsense': frames(text('x')),
  // A valid frame between the invalid ones resets the count of consecutive invalid frames.
  'live-text-mixed': frames(...Array.from({ length: 19 }, () => text('x')), chunk('AQI=')),
  'live-text-types': frames(text('{"type":"nothing"}')),
  'live-text-large': frames(...Array.from({ length: 15 }, () => nonsense), chunk('AQI=')),
  'live-stops': frames(text('{"type":"stop_recording"}')),
  'live-pings': frames(frame(opcodes.ping, one)),
  'live-fragments': frames(...fragments),
  'live-headers': frames(headed()),
  'live-reconnect': reconnect,
  'live-unknown-tokens': unknownTokens,
}
