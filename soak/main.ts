/** `npm run soak`: load and faults for hours, with everything checked after each round. */
import { parseArgs } from 'node:util'
import { isFault } from './faults.ts'
import { soak } from './soak.ts'

const HELP = `npm run soak [-- OPTIONS]
Runs the real server, with a fake recognizer, under random load and faults. A round lasts about half a minute:
recordings of several kinds, live sessions, callbacks, lists, deletions, key rotations, model pulls and removals,
in some rounds with kills, stops, a paused process, a slow database, a full disk (where it may mount one), or
receivers that are away or stall. Then everything must be there once, in order and unchanged, and small requests
must have been answered in time. The exit code is 1 when it is not. Slopes of memory and handles come last.

Options:
  --hours N | --minutes N      how long (default: 2 hours)
  --database sqlite|postgres   postgres starts a temporary server (default: sqlite)
  --max-p95 MS                 what 95 % of the small requests may take in rounds without a fault of the
                               server (default: 2000, for a machine that others use as well)
  --fault NAME                 none, away, stall, pause, "slow database", "full disk", stop or kill in each round
                               (default: each once, then one at random)
  --seed N                     what the random numbers start with (default: a new one, which is printed)`

const { values } = parseArgs({
  options: {
    hours: { type: 'string' },
    minutes: { type: 'string' },
    database: { type: 'string', default: 'sqlite' },
    'max-p95': { type: 'string', default: '2000' },
    fault: { type: 'string' },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const { hours, minutes, database, seed, fault: only } = values
const length = minutes === undefined ? Number(hours ?? 2) * 60 : Number(minutes)
const maxP95Ms = Number(values['max-p95'])
const isKnown = database === 'sqlite' || database === 'postgres'
const isOneLength = hours === undefined || minutes === undefined
if (values.help) console.log(HELP)
else if (
  !isKnown ||
  !isOneLength ||
  !(length > 0 && maxP95Ms > 0) ||
  !(only === undefined || isFault(only))
) {
  console.error(HELP)
  process.exitCode = 2
} else {
  const first = seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seed)
  process.exitCode = await soak({ minutes: length, database, seed: first, maxP95Ms, only })
}
