// Runs the samples of the guides as a reader would: shell and JavaScript, one after the other in one folder.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { chmod, copyFile, readFile, writeFile } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { startChild } from '../../support/child-server.ts'
import { SAMPLE } from '../../support/run-steno.ts'
import { makeFolder } from '../../support/test-storage.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)
const missing = ['curl', 'jq'].filter((tool) => spawnSync(tool, ['--version']).error)
const skip = missing.length > 0 && `needs ${missing.join(' and ')}`
const SAMPLE_MS = 120_000

const pages = [
  'docs/migration.md',
  ...['meetings', 'call-center', 'captions', 'voice-agents', 'archives', 'air-gapped'].map(
    (name) => `docs/guides/${name}.md`,
  ),
]

/** A sample of a page, and the name that its first line gives it. */
type Sample = { language: 'sh' | 'js'; code: string; file: string | undefined }

function samplesOf(text: string): Sample[] {
  return Array.from(text.matchAll(/^```(sh|js)\n(.*?)^```$/gms), ([, language, code]) => {
    const [, file] = /^\/\/ (\S+\.mjs)\n/.exec(code!) ?? []
    return { language: language as Sample['language'], code: code!, file }
  })
}

/** Samples at 16 kHz that the engine of the tests takes for speech. */
function tone(seconds: number): Uint8Array {
  const samples = Int16Array.from({ length: seconds * 16_000 }, (_, i) => 8000 * Math.sin(i / 6))
  return new Uint8Array(samples.buffer)
}

for (const page of pages) {
  test(`the samples of ${basename(page)} run`, { skip }, async (t) => {
    const folder = await makeFolder(t)
    const data = await makeFolder(t)
    const server = await startChild(t, data, { env: { FAKE_TEXT: 'Two people speak here.' } })
    assert.ok(server)
    await copyFile(SAMPLE, join(folder, 'talk.mp3'))
    await writeFile(join(folder, 'talk.raw'), tone(3))
    const command = join(folder, 'steno')
    await writeFile(command, `#!/bin/sh\nexec node '${root}/bin/steno.mjs' "$@"\n`)
    await chmod(command, 0o755)
    const env = {
      PATH: `${folder}${delimiter}${join(process.execPath, '..')}${delimiter}${process.env.PATH}`,
      HOME: folder,
      STENO_URL: server.url,
      STENO_KEY: server.key,
    }
    const options = { cwd: folder, env, timeout: SAMPLE_MS }
    for (const [n, { language, code, file }] of samplesOf(
      await readFile(join(root, page), 'utf8'),
    ).entries()) {
      if (language === 'js') {
        const name = file ?? `sample-${n}.mjs`
        await writeFile(join(folder, name), code)
        const { stdout } = await run(process.execPath, [name], options)
        assert.ok(file || stdout.length > 0, code)
      } else {
        const { stdout, stderr } = await run('bash', ['-eo', 'pipefail', '-c', code], options)
        assert.doesNotMatch(stdout + stderr, /statusCode|"error":\{/, code)
      }
    }
  })
}
