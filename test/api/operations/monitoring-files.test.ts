import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { createMetrics } from '../../../src/observability/metrics.ts'
import { startServer } from '../../support/server/start-server.ts'

const folder = join(import.meta.dirname, '../../../deploy/monitoring')
const read = (name: string) => readFile(join(folder, name), 'utf8')

/** What Prometheus adds to each metric, and functions and words of its language. */
const added = ['instance', 'job', 'le', 'namespace', 'pod']
const words = /^(sum|by|rate|increase|histogram_quantile|topk|min|max|and|label_values|up)$/

/** The metrics that the rules of prometheus-adapter read. */
async function adapterQueries(): Promise<string[]> {
  type Rule = { seriesQuery: string; metricsQuery: string }
  const { rules } = parse(await read('prometheus-adapter.yaml'))
  const all: Rule[] = [...rules.custom, ...rules.external]
  return all.flatMap(({ seriesQuery, metricsQuery }) => {
    const query = metricsQuery
      .replaceAll('<<.GroupBy>>', 'pod')
      .replaceAll(',<<.LabelMatchers>>', '')
    return [seriesQuery.replaceAll('!=""', '=""'), query]
  })
}

/** The metrics and labels that expressions use. */
function usedBy(expressions: readonly string[]): { metrics: string[]; labels: string[] } {
  const metrics = new Set<string>()
  const labels = new Set<string>()
  for (const expression of expressions) {
    for (const [, inner] of expression.matchAll(/\{([^}]*)\}/g)) {
      for (const [, label] of inner!.matchAll(/(\w+)=~?"/g)) labels.add(label!)
    }
    for (const [, inner] of expression.matchAll(/by \(([^)]*)\)/g)) {
      for (const label of inner!.split(/,\s*/)) labels.add(label)
    }
    const bare = expression
      .replace(/\{[^}]*\}|by \([^)]*\)|"[^"]*"|\[[^\]]*\]|,\s*instance\)/g, ' ')
      .replace(/\$\w+/g, ' ')
    for (const [name] of bare.matchAll(/[a-z_]\w+/gi)) if (!words.test(name)) metrics.add(name)
  }
  return { metrics: [...metrics], labels: [...labels] }
}

test('the dashboards, alerts and autoscaling rules use existing metrics and labels', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  await fetch(`${server.url}/health`)
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const known = new Set(Array.from(text.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name!))
  // Some have values only while jobs run.
  const metrics = createMetrics().registry.getMetricsAsArray() as { labelNames?: string[] }[]
  const labels = new Set(metrics.flatMap(({ labelNames = [] }) => labelNames))

  type Rules = { groups: { rules: { alert: string; expr: string; annotations: object }[] }[] }
  const rules = (parse(await read('alert-rules.yml')) as Rules).groups.flatMap((one) => one.rules)
  assert.ok(rules.every(({ annotations }) => Object.keys(annotations).length === 2))
  type Panel = { type: string; targets?: { expr: string }[] }
  const { panels } = JSON.parse(await read('grafana-dashboard.json')) as { panels: Panel[] }
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const used = usedBy([...rules.map(({ expr }) => expr), ...shown, ...(await adapterQueries())])

  const stem = (name: string) => (known.has(name) ? name : name.replace(/_(bucket|count|sum)$/, ''))
  assert.ok(used.metrics.length > 25, used.metrics.join())
  assert.deepEqual(
    used.metrics.filter((name) => !known.has(stem(name))),
    [],
  )
  assert.deepEqual(
    used.labels.filter((label) => !labels.has(label) && !added.includes(label)),
    [],
  )
})
