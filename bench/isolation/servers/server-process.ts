// A process that runs the server, with the real engine or, with ISOLATION_FAKE=1, the fake one. It
// reads STENO_*, sends its address when it listens, and logs only fatal errors.
import { createApp } from '../../../src/app/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'

const speech =
  process.env.ISOLATION_FAKE === '1' ? createFakeSpeechEngine('one two three') : undefined
const log = createLog('fatal')
const app = await createApp(readConfig(process.env), speech ? { speech, log } : { log })
process.send!({ url: await app.http.listen({ host: '127.0.0.1', port: 0 }) })
// Exits with its parent.
process.once('disconnect', () => process.exit())
