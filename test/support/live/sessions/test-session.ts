import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { readConfig } from '../../../../src/config/config.ts'
import type { Connection } from '../../../../src/live/connection/connection.ts'
import type { FinishedSession } from '../../../../src/live/messages/closing-messages.ts'
import type { MessageFlags } from '../../../../src/live/messages/server-messages.ts'
import type { LiveParams } from '../../../../src/live/request/live-params.ts'
import { LiveSession } from '../../../../src/live/session.ts'
import type { SessionOptions } from '../../../../src/live/session-components.ts'
import { createLog } from '../../../../src/observability/log.ts'
import { createDiskSessionStore } from '../../../../src/storage/live/disk-session-store.ts'
import { createFakeSpeechEngine, type FakeOptions } from '../../asr/fake-speech-engine.ts'
import { plainText } from '../plain-text.ts'

export const flags = {
  receive_final_transcripts: true,
  receive_speech_events: true,
  receive_post_processing_events: true,
  receive_acknowledgments: true,
  receive_errors: true,
  receive_lifecycle_events: true,
} as MessageFlags

export const params: LiveParams = {
  encoding: 'wav/pcm',
  bit_depth: 16,
  sample_rate: 16_000,
  channels: 1,
  endpointing: 0.05,
  maximum_duration_without_endpointing: 5,
  language_config: { languages: [], code_switching: false },
  pre_processing: { audio_enhancer: false, speech_threshold: 0.6 },
  realtime_processing: {
    translation: false,
    named_entity_recognition: false,
    sentiment_analysis: false,
  },
  post_processing: { summarization: false },
  messages_config: flags,
  callback: false,
}

type Options = { fake?: FakeOptions; env?: Record<string, string> } & Partial<SessionOptions>

/** Opens a new session, running, with files of its own. */
export async function open(t: TestContext, { fake, env = {}, ...changed }: Options = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  const store = await createDiskSessionStore(join(folder, 'session'))
  const speech = createFakeSpeechEngine('hello', fake)
  const outcomes: FinishedSession[] = []
  const sent: string[] = []
  const session = new LiveSession({
    id: 'a',
    createdAt: Date.now(),
    params,
    store,
    audioFile: { path: store.audioPath, start: store.audioStart },
    channelPaths: [join(folder, 'session', 'channel-0')],
    engine: speech.live!,
    speech,
    text: plainText,
    resultFormat: 'string',
    config: readConfig(env).live,
    finish: async (outcome) => void outcomes.push(outcome),
    fail: async () => void sent.push('failed'),
    log: createLog('silent'),
    ...changed,
  })
  const ended = session.run()
  t.after(async () => {
    await session.suspend()
    await ended
    await store.close()
    await rm(folder, { recursive: true })
  })
  return { session, ended, outcomes, sent, store }
}

export async function connect(session: LiveSession, offset?: number): Promise<Connection> {
  const connection = await session.connect({ offset })
  assert.ok(typeof connection !== 'number')
  return connection
}

/** Returns the types of all messages until the connection ends. */
export async function typesUntilEnd(connection: Connection): Promise<string[]> {
  const messages = await Array.fromAsync(connection.messages())
  return messages.map(({ text }) => JSON.parse(text).type)
}

/** Waits for a message of that type. */
export async function next(
  messages: AsyncGenerator<{ text: string }>,
  type: string,
): Promise<unknown> {
  for (;;) {
    const { value, done } = await messages.next()
    assert.ok(!done, `the connection ended before ${type}`)
    const message = JSON.parse(value.text)
    if (message.type === type) return message
  }
}

export const stop = Buffer.from('{"type":"stop_recording"}')
export const oneSecond = Buffer.alloc(32_000)
/** A second of a tone, which the fake engine takes for speech, and a second of silence. */
export const utterance = Buffer.concat([
  Buffer.from(Int16Array.from({ length: 16_000 }, (_, i) => 8000 * Math.sin(i / 5)).buffer),
  oneSecond,
])
