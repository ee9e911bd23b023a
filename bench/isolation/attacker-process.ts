// One attack, in a process of its own: what it computes must not delay what is measured. It is told
// what to do, says how it went every second, and ends when told so or when the one who started it
// is gone.
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { createAttacker, nameOf } from './attacker.ts'
import { attacks } from './attacks.ts'
import { openSources } from './sources.ts'

/** An attacker is another machine; here it must leave the processor to the server. */
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
// What an attack leaves behind fails when its time is over.
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
