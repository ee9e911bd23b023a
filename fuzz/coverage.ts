import { type Profiler, Session } from 'node:inspector'

/** The coverage of the program's own code by V8: how often each block ran. */
export type Coverage = {
  /** Returns whether code ran since the last call in a way that it never had before. */
  isNew(): boolean
  /** The number of edges: each is a block and how often it ran, by powers of two. */
  readonly edges: number
}

const sources = new URL('../src/', import.meta.url).href

/** Starts to measure coverage, which halves the speed of the code. */
export function watchCoverage(): Coverage {
  const session = new Session()
  session.connect()
  // In its own thread a session answers before `post` returns.
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const known = new Set<string>()
  return {
    get edges() {
      return known.size
    },
    isNew() {
      const before = known.size
      for (const { url, scriptId, functions } of take(session)) {
        if (!url.startsWith(sources)) continue
        for (const { ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            known.add(`${scriptId} ${startOffset} ${endOffset} ${Math.floor(Math.log2(count + 1))}`)
          }
        }
      }
      return known.size > before
    },
  }
}

function take(session: Session): Profiler.ScriptCoverage[] {
  let found: Profiler.ScriptCoverage[] = []
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error) throw error
    found = result
  })
  return found
}
