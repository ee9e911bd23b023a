// A process that runs the server with the real engine. It reads STENO_*, sends its address when it
// listens, and closes its workers on command.
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'

const app = await createApp(readConfig(process.env), { log: createLog('warn') })
process.send!({ url: await app.http.listen({ host: '127.0.0.1', port: 0 }) })
process.once('message', end)
// Exits with its parent.
process.once('disconnect', end)

async function end(): Promise<void> {
  await app.close()
  process.exit()
}
