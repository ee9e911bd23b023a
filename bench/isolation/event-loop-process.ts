// A server with the fake engine. It sends its address, and after any message the longest turn of
// its event loop since the last message: in processor time, which a busy machine does not change.
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../../test/support/asr/fake-speech-engine.ts'

/** 45 words in five seconds: an hour has as many as three hours of a talk. */
const TEXT = 'Ask not what your country can do for you, said Doctor Miller in Boston. '
  .repeat(3)
  .trim()

const speech = createFakeSpeechEngine(TEXT)
const app = await createApp(readConfig(process.env), { speech, log: createLog('fatal') })
// As `steno serve` does after its start.
await import('undici')
let longest = 0
let last = process.threadCpuUsage()
turn()
process.on('message', () => {
  process.send!({ maxMs: longest })
  longest = 0
})
process.once('disconnect', () => process.exit())
process.send!({ url: await app.http.listen({ host: '127.0.0.1', port: 0 }) })

function turn(): void {
  const { user, system } = process.threadCpuUsage()
  longest = Math.max(longest, (user - last.user + system - last.system) / 1000)
  last = { user, system }
  setImmediate(turn)
}
