// A whole server in a process of its own, for tests that stop or kill it: all of `steno serve`, but
// with a fake engine that takes a moment for each batch, or until the file FAKE_GATE is there.
// Reads STENO_* and FAKE_*; sends its address when it listens, and ends by itself when nothing
// keeps it running any more. In live sessions it recognizes a hash of the audio.
import { existsSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { serve } from '../../../src/cli/server/serve.ts'
import { interruptOnSignals } from '../../../src/cli/terminal/interrupt.ts'
import { createLog } from '../../../src/observability/log.ts'
import { LiveText } from '../../../src/text/live/live-text.ts'
import { createFakeSpeechEngine } from '../asr/fake-speech-engine.ts'

/** The message at which the server frees what is garbage. */
const COLLECT_GARBAGE = 'collect garbage'

const { env } = process
const { FAKE_BATCH_MS = '15', FAKE_GRACE_MS = '5000', FAKE_DRAIN_MS = '30000' } = env
const { FAKE_GATE, FAKE_RETRY_MS, FAKE_TEXT = 'one two three' } = env

const speech = createFakeSpeechEngine(FAKE_TEXT, {
  fingerprint: true,
  onBatch: async (_batch, signal) => {
    do await delay(Number(FAKE_BATCH_MS), undefined, { signal })
    while (FAKE_GATE && !existsSync(FAKE_GATE))
  },
})
const stdout = new Writable({
  write(startMessage, _encoding, done) {
    const [url] = /http:\S+/.exec(String(startMessage)) ?? []
    process.send?.({ url })
    // Writes the compile cache now, because most of these servers are killed.
    flushCompileCache()
    done()
  },
})
process.on('message', (text) => {
  if (text === COLLECT_GARBAGE) collectGarbage()
  // Simulates a bug in the program: an error in a promise that nobody awaits.
  else void Promise.reject(new Error(String(text)))
})
const signal = interruptOnSignals()
const limits = { graceMs: Number(FAKE_GRACE_MS), drainMs: Number(FAKE_DRAIN_MS) }
// As many attempts at a delivery as a bad receiver could need.
const retries = FAKE_RETRY_MS && Array.from({ length: 1000 }, () => Number(FAKE_RETRY_MS))
const delays = retries ? { callback: retries, webhook: retries, live: retries } : undefined
// On a busy machine a step may take longer than a session would wait.
const liveText = new LiveText({ log: createLog('silent'), timeout: 120 })
await serve({ env, stdout, signal }, { speech, delays, liveText, ...limits })
await liveText.close()
process.channel?.unref()

/** Sets the flag here: with one at the start, the process would have a compile cache of its own. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}
