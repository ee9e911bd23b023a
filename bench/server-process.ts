// The server in a process of its own, with a fake engine, for benchmarks that load it from outside.
// Reads STENO_*; sends its address when it listens, and its memory when asked.
import { createApp } from '../src/app.ts'
import { createFakeSpeechEngine } from '../src/asr/engines/fake.ts'
import { readConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'

const speech = createFakeSpeechEngine('one two three')
const app = await createApp(readConfig(process.env), { speech, log: createLog('fatal') })
process.send!({ url: await app.http.listen({ host: '127.0.0.1', port: 0 }) })
