/**
 * `npm run bench [-- NAME…] [OPTIONS]`: runs benchmarks, one JSON line each on stdout. `--events`
 * makes `delivery` shorter; `--attack`, `--seconds` and `--fake` are for `isolation`; `--sessions`,
 * `--no-partials` and `--translate` for `live`, `--task` for `language-model`; `--save` appends the
 * lines to docs/benchmarks.md with the machine they ran on.
 */
import { spawn } from 'node:child_process'
import { appendFile, glob } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    corpus: { type: 'string' },
    events: { type: 'string' },
    attack: { type: 'string', multiple: true, default: [] },
    seconds: { type: 'string' },
    fake: { type: 'boolean', default: false },
    sessions: { type: 'string', multiple: true, default: [] },
    'no-partials': { type: 'boolean', default: false },
    translate: { type: 'boolean', default: false },
    task: { type: 'string', multiple: true, default: [] },
    save: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

const files = await Array.fromAsync(glob('**/*.bench.ts', { cwd: import.meta.dirname }))
const benches = new Map(files.sort().map((file) => [basename(file, '.bench.ts'), file]))

if (values.help) {
  console.log('npm run bench [-- NAME…] [--corpus DIR] [--events N] [--save]')
  console.log('npm run bench -- isolation [--attack NAME]… [--seconds N] [--fake]')
  console.log('npm run bench -- live [--sessions N]… [--no-partials] [--translate]')
  console.log(`Benchmarks: ${[...benches.keys()].join(', ')}`)
  console.log('npm run bench -- language-model [--task NAME]…')
  console.log('npm run bench -- cluster needs PostgreSQL with pg_stat_statements')
  console.log('A corpus is a folder with manifest.json: see bench/support/corpus.ts')
  process.exit()
}

const unknown = positionals.filter((name) => !benches.has(name))
if (unknown.length > 0) {
  console.error(
    `Cannot find the benchmark ${unknown.join(', ')}; there are: ${[...benches.keys()].join(', ')}`,
  )
  process.exit(2)
}

/** Runs one script in a separate process, so that no bench affects the memory of another. */
async function run(file: string): Promise<string> {
  const args = ['--disable-warning=ExperimentalWarning', file]
  if (values.corpus) args.push('--corpus', resolve(values.corpus))
  if (values.events) args.push('--events', values.events)
  // Only this bench has these options.
  if (file.endsWith('isolation.bench.ts')) args.push(...isolationArgs())
  if (file.endsWith('live.bench.ts')) args.push(...liveArgs())
  if (file.endsWith('language-model.bench.ts'))
    args.push(...values.task.flatMap((name) => ['--task', name]))
  const options = {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'],
  }
  const child = spawn(process.execPath, args, options)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  let printed = ''
  for await (const lines of child.stdout.setEncoding('utf8')) {
    process.stdout.write(lines)
    printed += lines
  }
  if ((await ended) !== 0) throw new Error(`the benchmark ${file} failed`)
  return printed
}

function liveArgs(): string[] {
  const args = values.sessions.flatMap((count) => ['--sessions', count])
  if (values['no-partials']) args.push('--no-partials')
  if (values.translate) args.push('--translate')
  return args
}

function isolationArgs(): string[] {
  const args = values.attack.flatMap((name) => ['--attack', name])
  if (values.seconds) args.push('--seconds', values.seconds)
  if (values.fake) args.push('--fake')
  return args
}

for (const [name, file] of benches) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const lines = await run(file)
  if (values.save) {
    const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${Math.round(totalmem() / 1e9)} GB`
    const heading = `\n${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.versions.node}:\n`
    await appendFile(
      new URL('../docs/benchmarks.md', import.meta.url),
      `${heading}\n\`\`\`json\n${lines}\`\`\`\n`,
    )
  }
}
