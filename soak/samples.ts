import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The resources of an idle server after a round. */
export type Sample = {
  pid: number
  /** Milliseconds since 1970. */
  at: number
  rssMB: number
  /** Used by objects of JavaScript. */
  heapMB: number
  /** Open file descriptors; NaN where the system does not report them. */
  handles: number
  folderMB: number
}

const MB = 1e6
const HOUR_MS = 3_600_000
/** The number of rounds until the caches of a process are full. */
const WARM_UP = 3
/** The shortest time from which growth per hour is estimated. */
const MIN_MINUTES = 5

/** What is measured: a process on Linux, where it answers, and its data folder. */
export type Measured = { pid: number; url: string; folder: string }

/** Measures a server. */
export async function sampleOf({ pid, url, folder }: Measured): Promise<Sample> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const rss = Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024
  const handles = await readdir(`/proc/${pid}/fd`).then(
    (names) => names.length,
    () => Number.NaN,
  )
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const heap = Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1] ?? Number.NaN)
  const sizes = [rss, heap, await sizeOf(folder)].map((bytes) => Math.round(bytes / MB))
  const [rssMB, heapMB, folderMB] = sizes as [number, number, number]
  return { pid, at: Date.now(), rssMB, heapMB, handles, folderMB }
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = names.map(async (entry) => {
    if (!entry.isFile()) return 0
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    return found?.size ?? 0
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

/** Returns the slope of the least-squares line through points, in units of y per unit of x. */
export function slopeOf(points: readonly { x: number; y: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, one) => sum + one, 0) / values.length
  const [x, y] = [mean(points.map((point) => point.x)), mean(points.map((point) => point.y))]
  const spread = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0)
  const joint = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0)
  return spread === 0 ? 0 : joint / spread
}

/** Describes how memory and handles grew in the process that lived longest, after its warm-up. */
export function describeSlopes(samples: readonly Sample[]): string {
  const lives = Map.groupBy(samples, ({ pid }) => pid)
  const longest = [...lives.values()].sort((a, b) => b.length - a.length)[0] ?? []
  const warm = longest.slice(WARM_UP)
  const minutes = Math.round(((warm.at(-1)?.at ?? 0) - (warm[0]?.at ?? 0)) / 60_000)
  if (minutes < MIN_MINUTES) return 'no process lived long enough for a slope'
  const slope = (of: (sample: Sample) => number) => {
    return slopeOf(warm.map((sample) => ({ x: sample.at / HOUR_MS, y: of(sample) }))).toFixed(1)
  }
  const memory = `memory ${warm[0]!.rssMB} to ${warm.at(-1)!.rssMB} MB (${slope((s) => s.rssMB)} MB per hour)`
  const heap = `heap ${warm[0]!.heapMB} to ${warm.at(-1)!.heapMB} MB (${slope((s) => s.heapMB)} MB per hour)`
  const handles = `handles ${warm[0]!.handles} to ${warm.at(-1)!.handles} (${slope((s) => s.handles)} per hour)`
  return `longest life, warm for ${minutes} minutes: ${memory}, ${heap}, ${handles}`
}
