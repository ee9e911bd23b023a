import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attacks } from './attacks.ts'
import { type Baseline, type Evaluation, evaluate } from './outcome.ts'
import { ATTACKER_KEY, startIsolated } from './servers/isolated-server.ts'
import { createVictim } from './victim/victim.ts'

/** The options of a run. */
export type MeasureOptions = {
  /** Seconds of the attack, or of the run without one. */
  seconds: number
  isFake: boolean
  /** Undefined for the baseline run. */
  attack?: string
  baseline?: Baseline
}

/** The figures of a run, with the counts of the attacker. */
export type Measured = Evaluation & { attacker?: Record<string, number>; surrounded?: boolean }

/** The time of the victim's run before the attack begins, in milliseconds. */
const BEFORE_MS = 1000
/** The time after which an attacker that does not end is killed, in milliseconds. */
const ATTACKER_END_MS = 5000

/** Starts a server, runs the victim beside the attack, and evaluates the outcome. */
export async function measure({
  seconds,
  isFake,
  attack,
  baseline,
}: MeasureOptions): Promise<Measured> {
  const surroundings = attack ? attacks[attack]!.surroundings : undefined
  const server = await startIsolated({ isFake, ...(surroundings && { surroundings }) })
  const attacker = attack ? await startAttacker() : undefined
  try {
    const victim = await createVictim(server.url)
    const running = victim.run(seconds + BEFORE_MS / 1000)
    await sleep(BEFORE_MS)
    if (attack) attacker?.begin({ name: attack, url: server.url, key: ATTACKER_KEY, seconds })
    const outcome = await running
    victim.close()
    const { peak: peakBytes, exceeded: memoryExceeded } = server.memory
    const seen = { peakBytes, memoryExceeded, ended: server.ended }
    return {
      ...evaluate(outcome, seen, baseline),
      ...(attacker && { attacker: attacker.counts }),
      ...(surroundings && { surrounded: server.isSurrounded }),
    }
  } finally {
    await attacker?.end()
    await server.stop()
  }
}

type Started = {
  counts: Record<string, number>
  begin(order: { name: string; url: string; key: string; seconds: number }): void
  end(): Promise<void>
}

/** Starts an attacker process that waits for its attack. */
async function startAttacker(): Promise<Started> {
  const child: ChildProcess = fork(join(import.meta.dirname, 'attacker-process.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const counts: Record<string, number> = {}
  child.on('message', (reported) => void Object.assign(counts, reported))
  child.on('error', () => {})
  return {
    counts,
    begin: (order) => void child.send(order),
    async end() {
      const late = setTimeout(() => child.kill('SIGKILL'), ATTACKER_END_MS)
      if (child.connected) child.disconnect()
      await ended
      clearTimeout(late)
    },
  }
}
