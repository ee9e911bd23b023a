// A process that runs the server with a fake engine, for benchmarks over HTTP. It reads STENO_*,
// and BENCH_WAIT_MS, the time of a batch; it sends its address when it listens, and exits on the
// message `exit`, so that a profile is written.
import { setTimeout as delay } from 'node:timers/promises'
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../../test/support/asr/fake-speech-engine.ts'

const { BENCH_WAIT_MS: waitMs } = process.env
const onBatch = (_batch: unknown, signal: AbortSignal) =>
  delay(Number(waitMs), undefined, { signal })
const speech = createFakeSpeechEngine('one two three', waitMs ? { onBatch } : {})
const app = await createApp(readConfig(process.env), { speech, log: createLog('fatal') })
process.send!({ url: await app.http.listen({ host: '127.0.0.1', port: 0 }) })
process.on('message', (message) => message === 'exit' && process.exit())
