import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from './samples.ts'

const serveOnce = join(import.meta.dirname, 'serve-once.ts')
const node = `'${process.execPath}' --disable-warning=ExperimentalWarning`

/**
 * Programs that stand before those of the machine while samples run. A server is started, asked
 * whether it is well and stopped. What changes the machine does nothing.
 */
const programs: Record<string, string> = {
  steno: `
    case "$1" in
      serve) shift; exec ${node} '${serveOnce}' '${root}/bin/steno.mjs' serve "$@" ;;
      *) exec ${node} '${root}/bin/steno.mjs' "$@" ;;
    esac`,
  npx: `
    case "$1" in
      steno|steno-server) shift; exec steno "$@" ;;
      *) echo "npx: no $1 in these samples" >&2; exit 1 ;;
    esac`,
  // What 'npm ci' and 'npm run check' do is what made and checks this checkout.
  npm: `
    case "$1" in
      start) exec steno serve ;;
      ci) exit 0 ;;
      install|rebuild) case "$*" in *' '*) exit 0 ;; esac ;;
      run) exec ${node} -e "process.exit(Object.hasOwn(require('${root}/package.json').scripts, '$2') ? 0 : 1)" ;;
    esac
    echo "npm: no '$*' in these samples" >&2; exit 1`,
  node: `
    case "$1" in
      examples/*) exec ${node} '${serveOnce}' "$@" ;;
      *) exec ${node} "$@" ;;
    esac`,
  sudo: 'exec "$@"',
  'apt-get': 'exit 0',
  createdb: 'exit 0',
  // A microphone of three seconds.
  arecord: 'cat "$SAMPLES_FOLDER/talk.raw"',
}

/** Writes the programs into a folder below `folder`, for PATH, and returns that. */
export async function writePrograms(folder: string): Promise<string> {
  const bin = join(folder, '.programs')
  await mkdir(bin)
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
  }
  return bin
}
