import { execFile, spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'

/** A machine: a network namespace with an address of its own. */
export type Host = {
  name: string
  address: string
  /** The prefix of the command lines that are to run on this machine. */
  command: readonly string[]
}

/** Machines on one bridge. Packets are dropped without an error to the sender. */
export type Network = {
  /** The address at which the machines reach this process. */
  home: string
  addHost(name: string): Promise<Host>
  /** Drops all packets from one machine to another from now on; those in return pass. */
  cut(from: Host, to: Host): Promise<void>
  join(from: Host, to: Host): Promise<void>
  /** Limits the rate at which a machine sends, in kilobits per second; undefined: no limit. */
  limit(host: Host, kilobits: number | undefined): Promise<void>
}

const run = promisify(execFile)

/** Names begin with this and the id of the process that made them. */
const PREFIX = 'steno-test'

/** A MAC address that no interface has: packets sent to it are lost. */
const NOWHERE = '02:00:00:00:00:00'

/** Why networks cannot be made here; `false` if they can. */
export const noNetwork: string | false = whyNoNetwork() ?? false

function whyNoNetwork(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are a part of Linux'
  if (process.getuid?.() !== 0) return 'network namespaces need root privileges'
  const tried = spawnSync('ip', ['netns', 'list'])
  if (tried.error) return 'the program ip (iproute2) is not installed'
  const name = `${PREFIX}-${process.pid}-try`
  const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' })
  spawnSync('ip', ['netns', 'delete', name])
  return made.status === 0 ? undefined : `network namespaces cannot be made: ${made.stderr.trim()}`
}

/** Makes an empty network. Its machines are removed with the test, after what runs on them. */
export async function makeNetwork(t: Pick<TestContext, 'after'>): Promise<Network> {
  await removeStale()
  // The range for benchmarks of networks (RFC 2544), which no network in use has.
  const subnet = `198.18.${process.pid % 256}`
  const hub = `${PREFIX}-${process.pid}-hub`
  const link = `steno${process.pid % 2 ** 24}`
  const hosts: string[] = []
  const home = `${subnet}.1`
  const ip = async (...words: string[]) => void (await run('ip', words))

  t.after(async () => {
    await run('ip', ['link', 'delete', link]).catch(() => {})
    for (const name of [...hosts, hub]) await ip('netns', 'delete', name).catch(() => {})
  })
  // The bridge is in a namespace of its own: no firewall of this machine filters what passes it.
  await ip('netns', 'add', hub)
  await ip('-n', hub, 'link', 'add', 'bridge', 'type', 'bridge')
  await ip('-n', hub, 'link', 'set', 'bridge', 'up')
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'home', 'netns', hub)
  await ip('-n', hub, 'link', 'set', 'home', 'master', 'bridge', 'up')
  await ip('address', 'add', `${home}/24`, 'dev', link)
  await ip('link', 'set', link, 'up')

  return {
    home,
    async addHost(name) {
      const space = `${PREFIX}-${process.pid}-${name}`
      const address = `${subnet}.${10 + hosts.push(space)}`
      const peer = ['peer', 'name', name, 'netns', hub]
      await ip('netns', 'add', space)
      await ip('link', 'add', 'eth0', 'netns', space, 'type', 'veth', ...peer)
      await ip('-n', hub, 'link', 'set', name, 'master', 'bridge', 'up')
      await ip('-n', space, 'address', 'add', `${address}/24`, 'dev', 'eth0')
      await ip('-n', space, 'link', 'set', 'eth0', 'up')
      await ip('-n', space, 'link', 'set', 'lo', 'up')
      return { name, address, command: ['ip', 'netns', 'exec', space] }
    },
    async cut(from, to) {
      const target = [to.address, 'lladdr', NOWHERE, 'nud', 'permanent', 'dev', 'eth0']
      await ip('-n', from.command.at(-1)!, 'neighbor', 'replace', ...target)
    },
    async join(from, to) {
      await ip('-n', from.command.at(-1)!, 'neighbor', 'delete', to.address, 'dev', 'eth0')
    },
    async limit(host, kilobits) {
      const place = ['-n', host.command.at(-1)!, 'qdisc']
      if (kilobits === undefined)
        return void (await run('tc', [...place, 'delete', 'dev', 'eth0', 'root']))
      const bucket = ['rate', `${kilobits}kbit`, 'burst', '3kb', 'latency', '10s']
      await run('tc', [...place, 'replace', 'dev', 'eth0', 'root', 'tbf', ...bucket])
    },
  }
}

/** Removes what a test process left behind that was killed. */
async function removeStale(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list'])
  for (const [name, pid] of stdout.matchAll(new RegExp(`^${PREFIX}-(\\d+)-\\w+`, 'gm'))) {
    if (!isAlive(Number(pid))) await run('ip', ['netns', 'delete', name]).catch(() => {})
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
