// What a comment names in backticks exists: a name that was changed is changed there, too.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '../support/samples/samples.ts'

/** Names of other programs and of standards, and samples of text. */
const foreign = [
  ...['AudioToMelSpectrogramPreprocessor', 'ModelReader', 'ReduceLogSumExp', 'int'],
  ...['SkipLayerNormalization', 'AudioWorklet', 'waitForFunction', 'getaddrinfo', 'malloc'],
  ...['rnnoise_create', 'rnnoise_destroy', 'rnnoise_process_frame', 'chunking_strategy'],
  ...['AWS_ENDPOINT_URL_S3', 'BMW', 'bmw', 'WORDSxMS'],
]

test('identifiers named in comments exist in the code', () => {
  const folders = '{src,test,bench,fuzz,soak,scripts,examples,dashboard/src,guide/src}'
  const files = globSync([`${folders}/**/*.{ts,tsx,mjs}`, 'package.json', '.ci/run'], { cwd: root })
  const code = new Set(foreign)
  const named: { place: string; name: string }[] = []
  for (const file of files) {
    for (const [i, line] of readFileSync(join(root, file), 'utf8').split('\n').entries()) {
      const isComment = /^\s*(?:\/\/|\/\*\*|\*)/.test(line)
      const pattern = isComment ? /`([A-Za-z_]\w+)`/g : /([A-Za-z_]\w+)/g
      for (const [, name] of line.matchAll(pattern)) {
        if (isComment) named.push({ place: `${file}:${i + 1}`, name: name! })
        else code.add(name!)
      }
    }
  }
  assert.ok(named.length > 500, String(named.length))
  const unknown = named.filter(({ name }) => !code.has(name))
  assert.deepEqual(unknown, [])
})
