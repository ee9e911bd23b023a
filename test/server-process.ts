// A whole server in a process of its own, for tests that kill it: real store, queue, decoder and HTTP,
// and a fake engine that takes a moment for each batch. Reads STENO_*; sends its address when it listens.
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '../src/app.ts'
import { createFakeSpeechEngine } from '../src/asr/engines/fake.ts'
import { readConfig } from '../src/config.ts'

const BATCH_MS = 15

const speech = createFakeSpeechEngine('one two three', { onBatch: () => delay(BATCH_MS) })
const app = await createApp(readConfig(process.env), { speech })
const url = await app.http.listen({ host: '127.0.0.1', port: 0 })
process.send?.({ url })
