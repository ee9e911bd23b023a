import type { FastifyBaseLogger } from 'fastify'
import type { Gauge } from 'prom-client'
import type { App } from '../../../../app/app-type.ts'
import { type Role, roles } from '../../../../config/node.ts'
import { deliveryKinds, endpointKinds, jobKinds } from '../../../../observability/metrics.ts'
import {
  countActiveJobs,
  countDisabledEndpoints,
  countPendingDeliveries,
} from '../../../../storage/accounts/usage/counts.ts'
import { listNodes } from '../../../../storage/database/nodes/nodes.ts'

/** The sources of metrics. */
export type ScrapeDeps = Pick<App, 'metrics' | 'storage' | 'live'>

/**
 * Creates a function that reads all metrics as text, in the Prometheus format. Concurrent requests
 * share one reading, because the route may need no key and must not load the machine.
 */
export function createScrape(deps: ScrapeDeps): (log: FastifyBaseLogger) => Promise<string> {
  let currentScrape: Promise<string> | undefined
  return (log) => {
    currentScrape ??= scrape(deps, log).finally(() => {
      currentScrape = undefined
    })
    return currentScrape
  }
}

const activeJobs = jobKinds.flatMap((kind) => [
  { kind, state: 'queued' as const },
  { kind, state: 'processing' as const },
])
const pendingDeliveries = deliveryKinds.map((kind) => ({ kind }))
const disabledEndpoints = endpointKinds.map((kind) => ({ kind }))
const nodeRoles = roles.map((role) => ({ role }))

/** Counts the nodes that have each role. */
async function countNodes(db: App['storage']['db']): Promise<{ role: Role; count: number }[]> {
  const nodes = await listNodes(db)
  return roles.map((role) => {
    return { role, count: nodes.filter((node) => node.roles.includes(role)).length }
  })
}

async function scrape(
  { metrics, storage: { db, space }, live }: ScrapeDeps,
  log: FastifyBaseLogger,
): Promise<string> {
  metrics.liveCapacity.reset()
  for (const [kind, value] of Object.entries(live.admission.capacity ?? {})) {
    metrics.liveCapacity.set({ kind }, value)
  }
  const { jobs, deliveriesPending, endpointsDisabled, liveSessions } = metrics
  for (const [state, count] of Object.entries(live.states)) liveSessions.set({ state }, count)
  const outcomes = await Promise.allSettled([
    setGauge(jobs, activeJobs, countActiveJobs(db)),
    setGauge(deliveriesPending, pendingDeliveries, countPendingDeliveries(db)),
    setGauge(endpointsDisabled, disabledEndpoints, countDisabledEndpoints(db)),
    setGauge(metrics.nodes, nodeRoles, countNodes(db)),
    setSpaceGauges(metrics, space),
  ])
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') log.warn({ err: outcome.reason }, 'a metric cannot be read')
  }
  return metrics.registry.metrics()
}

/** Sets the gauges of disk space; leaves out values that the system does not report. */
async function setSpaceGauges(
  metrics: App['metrics'],
  space: App['storage']['space'],
): Promise<void> {
  const gauges = {
    free: metrics.storageFreeBytes,
    reserve: metrics.storageReserveBytes,
    total: metrics.storageHeldBytes,
    largest: metrics.storageLargestShareBytes,
  }
  for (const gauge of [...Object.values(gauges), metrics.storageLow]) gauge.remove()
  const { isLow, ...sizes } = await space.state()
  metrics.storageLow.set(isLow ? 1 : 0)
  for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) {
    if (Number.isFinite(sizes[name])) gauges[name].set(sizes[name])
  }
}

/**
 * Sets a gauge to its counts, and to 0 for the other `labelSets`. If it cannot be counted, it is
 * left out: the other metrics are needed most when something is wrong.
 */
async function setGauge<L extends string>(
  gauge: Gauge<L>,
  labelSets: readonly Record<L, string>[],
  countPromise: Promise<(Record<L, string> & { count: number })[]>,
): Promise<void> {
  gauge.reset()
  const counts = await countPromise
  for (const labels of labelSets) gauge.set(labels, 0)
  for (const { count, ...labels } of counts) {
    gauge.set(labels as unknown as Record<L, string>, count)
  }
}
