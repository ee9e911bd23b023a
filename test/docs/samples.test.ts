// What can be said of the samples of the documentation without running them; that is done by
// test/long/samples.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import test from 'node:test'
import { runCommand } from '../../src/cli/commands.ts'
import type { Terminal } from '../../src/cli/terminal/terminal.ts'
import { settingNames } from '../../src/config/config.ts'
import { planOf, plans } from '../support/samples/plans.ts'
import {
  type Language,
  languages,
  root,
  samplePages,
  samplesOf,
} from '../support/samples/samples.ts'

const yaml: { parse(text: string): unknown } = createRequire(import.meta.url)('yaml')
const samples = samplePages.flatMap(samplesOf)
const ofLanguage = (language: Language) => samples.filter((sample) => sample.language === language)

test('every sample of the documentation has a supported language', () => {
  const fences = samplePages.reduce((sum, page) => {
    return sum + readFileSync(join(root, page), 'utf8').split(/^\s*```/m).length - 1
  }, 0)
  assert.equal(fences, samples.length * 2, 'a sample is indented, or its fence is not closed')
  const unknown = samples.filter(({ language }) => !languages.includes(language))
  assert.deepEqual(
    unknown.map(({ page, line, language }) => `${page}:${line} ${language}`),
    [],
  )
})

test('every sample plan is used, and few samples never run', () => {
  const used = new Set(samples.map(planOf))
  assert.deepEqual(
    plans.filter((plan) => !used.has(plan)),
    [],
  )
  const notRun = samples.filter((sample) => planOf(sample)?.notRun)
  assert.ok(notRun.length <= 10, notRun.map(({ page, line }) => `${page}:${line}`).join())
})

test('shell samples have valid syntax', () => {
  const wrong = ofLanguage('sh').flatMap(({ page, line, code }) => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: code, encoding: 'utf8' })
    return status === 0 ? [] : [`${page}:${line}: ${stderr}`]
  })
  assert.deepEqual(wrong, [])
})

test('files named in shell samples exist', () => {
  const named = ofLanguage('sh').flatMap(({ page, code }) => {
    const paths = code.matchAll(/(?<![\w./-])(?:deploy|examples|scripts|test)\/[\w./-]+/g)
    return Array.from(paths, ([path]) => ({ page, path: path! }))
  })
  assert.ok(named.length > 6)
  const made = ['deploy/compose/.env']
  const missing = named.filter(({ path }) => !made.includes(path) && !existsSync(join(root, path)))
  assert.deepEqual(missing, [])
})

test('long tests named on pages exist', () => {
  const all = globSync('test/long/**/*.test.ts', { cwd: root })
  const named = samplePages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return Array.from(text.matchAll(/npm run test:long -- ([a-z]\S*?)`/g), ([, name]) => name!)
  })
  assert.ok(named.length > 0)
  assert.deepEqual(
    named.filter((name) => !all.some((file) => file.includes(name))),
    [],
  )
})

test('the Kubernetes sample sets values of the chart', () => {
  const values = yaml.parse(readFileSync(join(root, 'deploy/helm/steno/values.yaml'), 'utf8'))
  const set = ofLanguage('sh').flatMap(({ code }) => {
    return Array.from(code.matchAll(/--set '?([\w.]+)=/g), ([, path]) => path!)
  })
  assert.ok(set.length >= 4)
  const known = new Set(settingNames())
  const wrong = set.filter((path) => {
    const [first, second = ''] = path.split('.')
    const group = (values as Record<string, object>)[first!] ?? {}
    return first === 'settings' ? !known.has(second) : !Object.hasOwn(group, second)
  })
  assert.deepEqual(wrong, [])
})

test('JSON and YAML samples can be parsed', () => {
  for (const { page, line, code } of ofLanguage('json')) {
    // One value for each that begins at the start of a line.
    for (const value of code.trim().split(/\n(?=[{[])/)) {
      assert.doesNotThrow(() => JSON.parse(value), `${page}:${line}: ${value}`)
    }
  }
  for (const { page, line, code } of ofLanguage('yaml')) {
    assert.doesNotThrow(() => yaml.parse(code), `${page}:${line}`)
  }
})

test('pages name only options that their command has', async () => {
  const wrong: string[] = []
  for (const page of samplePages) {
    const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```$/gms, '')
    const inline = [...text.matchAll(/`[^`]*?\bsteno (\w+)([^`]*)`/g)]
    const fenced = samplesOf(page).flatMap(({ code }) => {
      const lines = code.replaceAll('\\\n', ' ')
      return [...lines.matchAll(/\bsteno (\w+)([^|;&#\n]*)/g)]
    })
    for (const [command, verb, rest] of [...inline, ...fenced]) {
      const named = [...rest!.matchAll(/(?<=\s)--([a-z-]+)/g)].map(([option]) => option)
      const help = named.length > 0 ? await helpOf(verb!) : ''
      const missing = named.filter(
        (option) => option !== '--help' && !new RegExp(`${option}\\b(?!-)`).test(help),
      )
      if (missing.length > 0) wrong.push(`${page}: ${command} (${missing})`)
    }
  }
  assert.deepEqual(wrong, [])
})

/** Returns what a command prints with `--help`; its options are among it. */
async function helpOf(verb: string): Promise<string> {
  let text = ''
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  await runCommand([verb, '--help'], { stdout, stderr: stdout } as unknown as Terminal)
  return text
}
