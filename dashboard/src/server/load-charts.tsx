import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiLoadPoint, ApiLoadReport } from '../../../src/cli/client/api-types.ts'
import { request } from '../api/api.ts'
import { report } from '../components/notices.tsx'
import { texts } from '../texts.ts'

const t = texts.load
const MINUTES = 30
const [WIDTH, HEIGHT] = [180, 40]
/** The margin for the width of the line. */
const EDGE = 2

type Name = keyof typeof t.charts
type ErrorName = keyof typeof t.errors
type Value = (point: ApiLoadPoint) => number | null

const errorNames = Object.keys(t.errors) as ErrorName[]
const isTime: ReadonlySet<Name> = new Set(['request_seconds', 'final_seconds'])

const values: Record<Name, Value> = {
  queued: ({ queued }) => queued,
  processing: ({ processing }) => processing,
  sessions: ({ sessions }) => sessions,
  deliveries: ({ deliveries }) => deliveries,
  request_seconds: ({ request_seconds }) => request_seconds,
  final_seconds: ({ final_seconds }) => final_seconds,
  errors: (point) => errorNames.reduce((sum, name) => sum + point[name], 0),
}

/** Shows the load of the server over the last half hour, and what failed. */
export function LoadCharts(): JSX.Element {
  const [load, setLoad] = useState<ApiLoadReport>()
  const interval = load?.interval_s
  useEffect(() => {
    const read = () => {
      request<ApiLoadReport>('v2/load').then(setLoad, report)
    }
    if (interval === undefined) return read()
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') read()
    }, interval * 1000)
    return () => clearInterval(timer)
  }, [interval])
  return (
    <section class="card">
      <h2>{t.title}</h2>
      <p class="hint">{t.hint(MINUTES)}</p>
      <div class="charts">
        {(Object.keys(t.charts) as Name[]).map((name) => (
          <Chart key={name} name={name} points={load?.items ?? []} />
        ))}
      </div>
    </section>
  )
}

type ChartProps = { name: Name; points: readonly ApiLoadPoint[] }

function Chart({ name, points }: ChartProps): JSX.Element {
  const read = values[name]
  const knownPoints = points.map((point) => ({ at: Date.parse(point.at), value: read(point) }))
  const most = Math.max(0, ...knownPoints.map(({ value }) => value ?? 0))
  const format = isTime.has(name) ? formatSeconds : String
  const last = knownPoints.at(-1)?.value
  const now = last == null ? t.nothing : format(last)
  const isErrors = name === 'errors'
  const isKnown = knownPoints.some(({ value }) => value !== null)
  const highest = isKnown ? format(most) : t.nothing
  const words = isErrors ? describeErrors(points) : isKnown ? t.atMost(highest) : t.noneYet
  return (
    <figure>
      <figcaption>
        <span>{t.charts[name]}</span>
        <strong>{isErrors ? '' : now}</strong>
        <span class={isErrors && most > 0 ? 'problem' : 'hint'}>{words}</span>
      </figcaption>
      <svg
        class="chart"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          isErrors ? `${t.charts.errors}: ${words}` : t.summary(t.charts[name], now, highest)
        }
      >
        {isErrors ? (
          <Bars points={knownPoints} most={most} />
        ) : (
          linesOf(knownPoints, most).map((line, i) => <polyline key={i} points={line} />)
        )}
      </svg>
      <p class="axis hint" aria-hidden="true">
        <span>{t.ago(MINUTES)}</span>
        <span>{t.now}</span>
      </p>
    </figure>
  )
}

type Known = { at: number; value: number | null }

function xOf(at: number, end: number): number {
  return WIDTH - ((end - at) / (MINUTES * 60_000)) * WIDTH
}

function yOf(value: number, most: number): number {
  return HEIGHT - EDGE - (most === 0 ? 0 : (value / most) * (HEIGHT - 2 * EDGE))
}

/** Returns the points of the lines, which are interrupted where a value is missing. */
function linesOf(points: readonly Known[], most: number): string[] {
  const end = points.at(-1)?.at ?? 0
  const lines: string[][] = [[]]
  for (const { at, value } of points) {
    if (value === null) lines.push([])
    else lines.at(-1)!.push(`${xOf(at, end).toFixed(1)},${yOf(value, most).toFixed(1)}`)
  }
  // A line needs two points, so a single point becomes a dash.
  return lines
    .filter((line) => line.length > 0)
    .map((line) => (line.length > 1 ? line : dash(line[0]!)).join(' '))
}

function dash(point: string): string[] {
  const [x, y] = point.split(',')
  return [`${Number(x) - 1},${y}`, `${x},${y}`]
}

function Bars({ points, most }: { points: readonly Known[]; most: number }): JSX.Element {
  const end = points.at(-1)?.at ?? 0
  return (
    <>
      {points.map(({ at, value }) =>
        value ? (
          <rect
            key={at}
            class="bad"
            x={xOf(at, end) - 1}
            width={1}
            y={yOf(value, most)}
            height={HEIGHT - yOf(value, most)}
          />
        ) : null,
      )}
    </>
  )
}

function describeErrors(points: readonly ApiLoadPoint[]): string {
  const parts = errorNames.flatMap((name) => {
    const count = points.reduce((sum, point) => sum + point[name], 0)
    return count > 0 ? [t.errors[name](count)] : []
  })
  return parts.join(', ') || t.noErrors
}

function formatSeconds(seconds: number): string {
  return t.milliseconds(Math.round(seconds * 1000))
}
