/**
 * Measures how the attacks of one account affect another account, the victim, against fixed limits.
 * `--attack NAME`, which may be repeated, selects attacks (`json-` selects those with this prefix);
 * `--seconds N` is the duration of each; `--fake` uses the fake speech engine. The first line is a
 * run without attack. Linux only (/proc).
 */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { report } from '../support/report.ts'
import { attacks } from './attacks.ts'
import { type Measured, measure } from './measure.ts'

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    events: { type: 'string' },
    attack: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '20' },
    fake: { type: 'boolean', default: false },
  },
})

const attackNames = Object.keys(attacks)
const requestedAttacks = values.attack ?? ['']
const names = attackNames.filter((name) =>
  requestedAttacks.some((request) => name === request || isGroup(name, request)),
)
const unknown = requestedAttacks.filter(
  (request) => !attackNames.some((name) => name === request || isGroup(name, request)),
)
if (unknown.length > 0) {
  console.error(
    `Cannot find the attack ${unknown.join(', ')}; there are: ${attackNames.join(', ')}`,
  )
  process.exit(2)
}

const options = { seconds: Number(values.seconds), isFake: values.fake }
const baseline = await measure(options)
reportMeasured('none', baseline)
for (const attack of names) {
  try {
    reportMeasured(attack, await measure({ ...options, attack, baseline }))
  } catch (error) {
    report({ bench: 'isolation', attack, pass: false, failed: (error as Error).message })
  }
}

/** Returns whether `request` is a prefix such as `json-`, or empty, that selects `name`. */
function isGroup(name: string, request: string): boolean {
  return (request === '' || request.endsWith('-')) && name.startsWith(request)
}

function reportMeasured(attack: string, measured: Measured): void {
  report({
    bench: 'isolation',
    attack,
    engine: values.fake ? 'fake' : 'real',
    ...measured,
    load: loadavg()[0],
  })
}
