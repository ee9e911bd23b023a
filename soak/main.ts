/** `npm run soak`: load and faults for hours, with everything checked after each round. */
import { parseArgs } from 'node:util'
import { soak } from './soak.ts'

const HELP = `npm run soak [-- OPTIONS]
Runs the real server, with a fake recognizer, under random load and faults. A round lasts about half a minute:
recordings, live sessions, callbacks, deletions and key rotations, in some rounds with kills, stops, a paused
process or receivers that are away. Then everything must be there once, in order and unchanged. The exit code is 1
when it is not.

Options:
  --hours N | --minutes N      how long (default: 2 hours)
  --database sqlite|postgres   postgres starts a temporary server (default: sqlite)
  --seed N                     what the random numbers start with (default: a new one, which is printed)`

const { values } = parseArgs({
  options: {
    hours: { type: 'string' },
    minutes: { type: 'string' },
    database: { type: 'string', default: 'sqlite' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const { hours, minutes, database, seed } = values
const length = minutes === undefined ? Number(hours ?? 2) * 60 : Number(minutes)
const isKnown = database === 'sqlite' || database === 'postgres'
if (values.help) console.log(HELP)
else if (!isKnown || !(length > 0) || (hours !== undefined && minutes !== undefined)) {
  console.error(HELP)
  process.exitCode = 2
} else {
  const first = seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seed)
  process.exitCode = await soak({ minutes: length, database, seed: first })
}
