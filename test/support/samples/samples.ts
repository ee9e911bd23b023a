import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../../..')

/** Languages of samples that the tests check, each in its way. Drawings and output are `text`. */
export const languages = [
  ...['sh', 'js', 'python', 'http', 'crontab', 'json', 'yaml', 'xml', 'text'],
] as const
export type Language = (typeof languages)[number]

/** A sample of a page. */
export type Sample = {
  page: string
  line: number
  language: Language
  code: string
  /** The name that its first line gives it, for other samples to import. */
  file: string | undefined
}

/** Pages for users and contributors. Decision records have no samples that must run. */
export const samplePages: readonly string[] = globSync(
  ['*.md', 'docs/*.md', 'docs/guides/*.md', 'examples/*/README.md'],
  { cwd: root },
).sort()

/** Returns the fenced samples of a page, in order. */
export function samplesOf(page: string): Sample[] {
  const text = readFileSync(join(root, page), 'utf8')
  return Array.from(
    text.matchAll(/^```(\S*)\n(.*?)^```$/gms),
    ({ index, 1: language, 2: code }) => {
      const [, file] = /^(?:\/\/|#) (\S+\.(?:mjs|py))\n/.exec(code!) ?? []
      const line = text.slice(0, index).split('\n').length
      return { page, line, language: language as Language, code: code!, file }
    },
  )
}
