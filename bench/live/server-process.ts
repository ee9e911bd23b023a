// The server in a process of its own, with the real engine. Reads STENO_*; sends its address when
// it listens, and closes its workers when it is told to end.
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'

const app = await createApp(readConfig(process.env), { log: createLog('warn') })
process.send!({ url: await app.http.listen({ host: '127.0.0.1', port: 0 }) })
process.once('message', end)
// A benchmark that was cut off leaves nothing behind.
process.once('disconnect', end)

async function end(): Promise<void> {
  await app.close()
  process.exit()
}
