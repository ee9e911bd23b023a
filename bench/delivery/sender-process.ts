// A process that delivers as the server does, from a store that was filled before. It reads
// STENO_*, begins at once, ends jobs at a constant rate on command, and reports at the end how long
// its event loop was blocked.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../../src/config/config.ts'
import { DeliveryService } from '../../src/delivery/delivery-service.ts'
import { createLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { endNewJob } from './fill.ts'

/** A command to the sender process: to end jobs, or to close. */
export type SenderOrder = { jobs: number; perSecond: number; callbackUrl: string } | 'close'

/**
 * A message of the sender process: when it began, in milliseconds since 1970, and the longest delay
 * of its event loop.
 */
export type SenderReport = { kind: 'began'; at: number } | { kind: 'closed'; maxHeldMs: number }

const config = readConfig(process.env)
const log = createLog(config.logLevel)
const storage = await openStorage({ folder: config.storage.folder, log })
const delivery = new DeliveryService({ config, storage, log, metrics: createMetrics() })

process.on('message', (order: SenderOrder) => void (order === 'close' ? close() : endJobs(order)))
process.once('disconnect', () => process.exit())

const loopDelay = monitorEventLoopDelay({ resolution: 1 })
loopDelay.enable()
const at = Date.now()
await delivery.start()
process.send!({ kind: 'began', at } satisfies SenderReport)

async function endJobs({
  jobs,
  perSecond,
  callbackUrl,
}: Exclude<SenderOrder, 'close'>): Promise<void> {
  const startedAt = performance.now()
  for (let i = 0; i < jobs; i++) {
    await delay(startedAt + (i * 1000) / perSecond - performance.now())
    await endNewJob(storage.db, { callbackUrl })
    delivery.wake()
  }
}

async function close(): Promise<void> {
  loopDelay.disable()
  await delivery.close()
  await storage.close()
  const report: SenderReport = { kind: 'closed', maxHeldMs: loopDelay.max / 1e6 }
  process.send!(report, () => process.exit())
}
