import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Attacker } from '../attacker.ts'
import { onSessions } from './live/live-sessions.ts'
import { readSamples, SPEECH_FILE } from './speech.ts'

const nowhere = () => `http://${crypto.randomUUID()}.invalid/a.wav`

/** Repeatedly uploads by URL in 25 concurrent loops, and creates jobs by URL in four. */
function fetches(address: (attacker: Attacker) => string): Attack['run'] {
  return (attacker) => {
    return attacker.repeat(29, async (loop) => {
      const json = { audio_url: address(attacker) }
      await attacker.send(loop < 25 ? '/v2/upload' : '/v2/pre-recorded', { json })
    })
  }
}

/** Uploads the speech once and resolves to its URL. */
export async function uploadSpeech({ send }: Attacker): Promise<string> {
  const form = new FormData()
  form.set('audio', new Blob([new Uint8Array(await readFile(SPEECH_FILE))]), 'a.wav')
  const { text } = await send('/v2/upload', { body: form })
  return (JSON.parse(text) as { audio_url: string }).audio_url
}

/** Creates jobs on a short recording with a callback to a receiver. */
function callbacks(address: (attacker: Attacker) => string): Attack['run'] {
  return async (attacker) => {
    const audio_url = await uploadShort(attacker)
    await attacker.repeat(4, async () => {
      const callback_config = { url: address(attacker) }
      await attacker.send('/v2/pre-recorded', {
        json: { audio_url, callback: true, callback_config },
      })
    })
  }
}

/** Uploads a tenth of a second of audio, whose jobs end at once. */
async function uploadShort({ send }: Attacker): Promise<string> {
  const file = new Uint8Array((await readFile(SPEECH_FILE)).subarray(0, 44 + 3200))
  new DataView(file.buffer).setUint32(40, 3200, true)
  const form = new FormData()
  form.set('audio', new Blob([file]), 'a.wav')
  const { text } = await send('/v2/upload', { body: form })
  return (JSON.parse(text) as { audio_url: string }).audio_url
}

/** Runs live sessions that send all callbacks to a receiver that never responds. */
const liveCallbacks: Attack = {
  async run(attacker) {
    const speech = await readSamples()
    const receive = ['partial_transcripts', 'speech_events', 'acknowledgments', 'lifecycle_events']
    const flags = Object.fromEntries(receive.map((name) => [`receive_${name}`, true]))
    const callback_config = { url: `${attacker.sources}/silent`, ...flags }
    const params = { callback: true, callback_config, messages_config: flags }
    await onSessions(attacker, { concurrency: 3, params }, async ({ socket, isOpen }) => {
      for (let at = 0; isOpen() && !attacker.signal.aborted; at += 640) {
        const from = at % (speech.length - 640)
        socket.send(speech.subarray(from, from + 640))
        await sleep(10)
      }
    })
  },
}

const surroundings = { silentResolver: true }

/** Attacks with URLs that make the server wait. */
export const netAttacks: Record<string, Attack> = {
  'net-names': { run: fetches(nowhere), surroundings },
  'net-callback-names': { run: callbacks(nowhere), surroundings },
  'net-drip': { run: fetches(({ sources }) => `${sources}/drip/${Math.random()}`) },
  'net-silent': { run: fetches(({ sources }) => `${sources}/silent/${Math.random()}`) },
  'net-endless': { run: fetches(({ sources }) => `${sources}/endless`) },
  'net-turns': { run: fetches(({ sources }) => `${sources}/turn`) },
  'net-heads': { run: fetches(({ sources }) => `${sources}/heads`) },
  'net-callback-silent': { run: callbacks(({ sources }) => `${sources}/silent`) },
  'net-callback-drip': { run: callbacks(({ sources }) => `${sources}/drip`) },
  'net-callback-many': {
    run: callbacks(
      ({ sources }) =>
        `${sources.replace('127.0.0.1', `127.0.0.${1 + Math.floor(Math.random() * 250)}`)}/silent`,
    ),
  },
  'net-live-callback': liveCallbacks,
}
