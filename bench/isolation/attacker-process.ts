// A process that runs one attack, so that its work does not delay the measurement. It receives the
// attack, reports counts every second, and ends when the time is over or its parent is gone.
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { createAttacker, nameOf } from './attacker.ts'
import { attacks } from './attacks.ts'
import { openSources } from './sources.ts'

/** An attacker would be another machine, so here it yields the processor to the server. */
const PRIORITY = 10

setPriority(PRIORITY)
process.once('disconnect', () => process.exit())
const [{ name, url, key, seconds }] = (await once(process, 'message')) as [
  { name: string; url: string; key: string; seconds: number },
]
const counts = new Map<string, number>()
const sendCounts = () => process.send?.(Object.fromEntries(counts))
setInterval(sendCounts, 1000)
const signal = AbortSignal.timeout(seconds * 1000)
const sources = await openSources()
const attacker = createAttacker({ url, key, sources }, { signal, counts })
attacker.count('begun')
// Pending requests of an attack fail when its time is over.
process.on('unhandledRejection', (error: Error) => {
  if (!signal.aborted) attacker.count(`unhandled: ${nameOf(error)}`)
})
process.on('uncaughtException', (error: Error) => {
  if (!signal.aborted) attacker.count(`uncaught: ${nameOf(error)}`)
})
await attacks[name]!.run(attacker).catch((error: Error) => {
  if (!signal.aborted) attacker.count(`failed: ${nameOf(error)}`)
})
sendCounts()
if (!signal.aborted) await once(signal, 'abort')
process.send?.(Object.fromEntries(counts), () => process.exit())
