import { readFileSync } from 'node:fs'

/** Returns the version of this program. */
export function readProgramVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  const { version }: { version: string } = JSON.parse(readFileSync(file, 'utf8'))
  return version
}
