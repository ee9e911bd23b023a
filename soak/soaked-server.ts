import { setTimeout as delay } from 'node:timers/promises'
import { list, untilSettled } from '../test/support/api/account-checks.ts'
import { runHere } from '../test/support/cli/run-here.ts'
import { call } from '../test/support/net/http-client.ts'
import { type ChildServer, kill, startChild } from '../test/support/server/child-server.ts'

const STOP_MS = 60_000
/** Faults make many lines; the last ones are shown when a round fails. */
const LOG_CHARACTERS = 10_000

/** One server after the other on the same folder, port and database. */
export class SoakedServer {
  readonly #folder: string
  readonly #env: Record<string, string>
  #child: ChildServer | undefined
  #starting: Promise<ChildServer> | undefined
  #ending: Promise<void> | undefined
  #adminKey: string | undefined
  #log = ''

  constructor({ folder, env }: { folder: string; env: Record<string, string> }) {
    this.#folder = folder
    this.#env = env
  }

  /** The settings of commands that concern the same store. */
  get env(): Record<string, string> {
    return { ...this.#env, STENO_DATA_DIR: this.#folder }
  }

  /** Returns a key that may manage the server. */
  async adminKey(): Promise<string> {
    if (this.#adminKey) return this.#adminKey
    const args = ['keys', 'create', '--account', 'operator', '--scopes', 'admin,read']
    const { code, stdout, stderr } = await runHere(args, this.env)
    if (code !== 0) throw new Error(`no key can be made: ${stderr}`)
    this.#adminKey = /\S+$/.exec(stdout.trim())![0]
    return this.#adminKey
  }

  /** Returns the end of its log since the last call. */
  takeLog(): string {
    const log = this.#log
    this.#log = ''
    return log
  }

  /** The running process. */
  get pid(): number {
    return this.#child!.process.pid!
  }

  /** Returns the running server, or starts one if the last has ended; concurrent calls share it. */
  async ensureRunning(): Promise<ChildServer> {
    await this.#ending
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<ChildServer> {
    const child = await startChild({ after() {} }, this.#folder, { env: this.#env, silent: true })
    if (!child) throw new Error('the server does not start')
    this.#child = child
    for (const output of [child.process.stdout!, child.process.stderr!]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-LOG_CHARACTERS)
      })
    }
    return child
  }

  /** Kills the process, as the system does when memory runs out. */
  async kill(): Promise<void> {
    await this.#end(async () => {
      if (this.#child) await kill(this.#child)
    })
  }

  /** Stops the process as an operator does; throws unless it exits without an error. */
  async stop(): Promise<void> {
    await this.#end(async () => {
      const { process, ended } = this.#child!
      process.kill('SIGTERM')
      const outcome = await Promise.race([ended, delay(STOP_MS, undefined, { ref: false })])
      if (outcome?.code === 0) return
      await kill(this.#child!)
      throw new Error(`the server ended with ${JSON.stringify(outcome ?? 'a kill')} after SIGTERM`)
    })
  }

  async #end(end: () => Promise<void>): Promise<void> {
    const ending = end()
    this.#ending = ending.catch(() => {})
    await this.#ending
    this.#starting = undefined
    this.#ending = undefined
    await ending
  }

  /** Collects garbage, so that only used memory is measured. */
  async collectGarbage(): Promise<void> {
    const { process } = await this.ensureRunning()
    process.send('collect garbage')
    // When the server responds, it has handled the message.
    await fetch(`${(await this.ensureRunning()).url}/health`)
  }

  /** Stops the process for a while, as a machine that swaps or migrates does. */
  async pause(ms: number): Promise<void> {
    const { process } = this.#child!
    process.kill('SIGSTOP')
    await delay(ms)
    process.kill('SIGCONT')
  }

  /** Deletes all jobs once they have ended and all is delivered; returns their ids. */
  async clear(): Promise<string[]> {
    const server = await this.ensureRunning()
    await untilSettled(server)
    const jobs = await list<{ id: string }>(server, '/v2/transcription?limit=200')
    for (const { id } of jobs) await call(server, `/v2/transcription/${id}`, { method: 'DELETE' })
    return jobs.map(({ id }) => id)
  }
}
