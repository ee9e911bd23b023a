import { percentile } from '../../src/cli/live/live-latency.ts'
import type { VictimOutcome } from './victim/victim.ts'

/**
 * The limits of an attack's effect on the victim: milliseconds, and bytes beyond the memory of the
 * baseline.
 */
const LIMITS = { requestP95: 200, finalP95: 500, memoryGrowth: 1e9 }

/** Silence that finals wait for: the default `endpointing` and hangover, in milliseconds. */
const WAITING_MS = 300
/** The fewest recognized words, as a share of the baseline's. */
const WORDS_SHARE = 0.9

/** The outcome for the server. */
export type ServerOutcome = {
  peakBytes: number
  /** Its process tree was killed for its memory. */
  memoryExceeded: boolean
  /** The exit code or signal if it ended by itself. */
  ended: string | undefined
}

/** The figures of the baseline run that others are compared with. */
export type Baseline = { words: number; peakMB: number; jobMs: { p50: number | undefined } }

/** The figures of a run; see docs/benchmarks.md. */
export type Evaluation = ReturnType<typeof evaluate>

/** Evaluates a run, compared with the baseline if there is one. */
export function evaluate(
  { requests, failures, sessions, jobs, loopHoldMs }: VictimOutcome,
  server: ServerOutcome,
  baseline?: Baseline,
) {
  const finals = sessions.flatMap((session) => session.finals).map((ms) => ms - WAITING_MS)
  const sum = (pick: (session: (typeof sessions)[number]) => number) =>
    sessions.reduce((total, session) => total + pick(session), 0)
  const words = sum((session) => session.words)
  const codes = sessions.map(({ code }) => code)
  const lost = {
    jobs: jobs.lost,
    liveBytes: sum((session) => session.lostBytes),
    callbacks: sum((session) => session.missingCallbacks) + (jobs.problems['no callback'] ?? 0),
  }
  const figures = {
    requestMs: summary(requests),
    requests: requests.length,
    failures,
    finalMs: summary(finals),
    finals: finals.length,
    words,
    sessionCodes: codes,
    connectionsLost: sum((session) => session.losses),
    jobsAccepted: jobs.accepted,
    jobsDone: jobs.done,
    jobProblems: jobs.problems,
    jobMs: summary(jobs.times),
    jobTimeRatio: ratio(summary(jobs.times).p50, baseline?.jobMs.p50),
    loopHoldMs,
    peakMB: Math.round(server.peakBytes / 1e6),
    lost,
    ...(server.memoryExceeded && { memory_exceeded: true }),
    ...(server.ended !== undefined && { serverEnded: server.ended }),
  }
  const growth = server.peakBytes - (baseline?.peakMB ?? Number.POSITIVE_INFINITY) * 1e6
  const held = {
    requests: isBelow(figures.requestMs.p95, LIMITS.requestP95) && count(failures) === 0,
    finals:
      isBelow(figures.finalMs.p95, LIMITS.finalP95) &&
      codes.every((code) => code === 1000) &&
      words >= WORDS_SHARE * (baseline?.words ?? 1),
    jobs: jobs.accepted > 0 && jobs.done === jobs.accepted && count(jobs.problems) === 0,
    memory: !server.memoryExceeded && growth < LIMITS.memoryGrowth,
    nothingLost: lost.jobs + lost.liveBytes + lost.callbacks === 0 && server.ended === undefined,
  }
  return { ...figures, held, pass: Object.values(held).every(Boolean) }
}

function summary(values: readonly number[]) {
  return { p50: percentile(values, 0.5), p95: percentile(values, 0.95), max: percentile(values, 1) }
}

function isBelow(value: number | undefined, limit: number): boolean {
  return value !== undefined && value < limit
}

function ratio(value: number | undefined, base: number | undefined): number | undefined {
  return value === undefined || base === undefined ? undefined : value / base
}

function count(counts: Record<string, number>): number {
  return Object.values(counts).reduce((total, n) => total + n, 0)
}
