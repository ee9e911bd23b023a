/** One value of a metric, with its name and labels as sent. */
export type Sample = { name: string; labels: Record<string, string>; value: number }

/** A metric: all samples under its `TYPE`. */
export type Family = { type: string; help: string; samples: Sample[] }

/** Suffixes of the samples of a histogram or summary, besides the name itself. */
const suffixes = ['', '_bucket', '_sum', '_count']

/**
 * Reads metrics in the text format of Prometheus (version 0.0.4), by name. Throws on any violation
 * of the format, a duplicate sample, or an invalid number.
 */
export function parseMetrics(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  const helps = new Map<string, string>()
  let current: { name: string; family: Family } | undefined
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, help, about] = /^# HELP ([a-z_]\w*) (.+)$/.exec(line) ?? []
    if (help && about) {
      helps.set(help, about)
      continue
    }
    const [, name, type] = /^# TYPE ([a-z_]\w*) (counter|gauge|histogram|summary)$/.exec(line) ?? []
    if (name && type) {
      if (families.has(name)) throw new Error(`${name} comes twice`)
      current = { name, family: { type, help: helps.get(name) ?? '', samples: [] } }
      families.set(name, current.family)
      continue
    }
    const sample = parseSample(line)
    const key = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
    if (seen.has(key)) throw new Error(`${key} comes twice`)
    seen.add(key)
    if (!current || !suffixes.includes(sample.name.slice(current.name.length))) {
      throw new Error(`${line} stands under another metric`)
    }
    if (!sample.name.startsWith(current.name)) throw new Error(`${line} is misplaced`)
    current.family.samples.push(sample)
  }
  return families
}

function parseSample(line: string): Sample {
  const [, name, labeled = '', number] =
    /^([a-z_]\w*)(?:\{((?:[a-z_]\w*="(?:[^"\\]|\\.)*",?)*)\})? (\S+)$/.exec(line) ?? []
  const value = Number(number)
  if (!name || number === '' || !Number.isFinite(value)) throw new Error(`no sample: ${line}`)
  const labels = [...labeled.matchAll(/([a-z_]\w*)="((?:[^"\\]|\\.)*)"/g)]
  return { name, labels: Object.fromEntries(labels.map(([, key, label]) => [key, label])), value }
}
