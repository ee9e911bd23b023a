import { spawn } from 'node:child_process'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readProgramVersion } from '../../config/version.ts'
import { bareEnvironment } from './sandbox/bare-environment.ts'
import { confine, findConfinement } from './sandbox/decoder-sandbox.ts'

const modules = fileURLToPath(new URL('./decoder-modules.ts', import.meta.url))

/** Loose limits: only our own modules run here. */
const limits = {
  memoryBytes: 1e9,
  dataBytes: 2e9,
  fileBytes: 1e8,
  cpuSeconds: 60,
  wallSeconds: 60,
}

/**
 * Adds the modules of decoders to the cache of compiled modules, once for each version of the
 * program. Confined decoders can only read the cache, and compiling the modules takes more than
 * half of their startup time. A separate process that reads no recording fills the cache in the
 * background.
 */
export async function fillModuleCache(): Promise<void> {
  const { NODE_COMPILE_CACHE: cache } = process.env
  const readsOnly = ['isolated', 'files'].includes(findConfinement())
  if (!readsOnly || !cache || !isAbsolute(cache) || !existsSync(cache)) return
  const changedAt = Math.trunc(statSync(modules).mtimeMs)
  const markerFile = join(cache, `decoder-${readProgramVersion()}-${process.version}-${changedAt}`)
  if (existsSync(markerFile)) return
  const node = { file: process.execPath, args: ['--disable-warning=ExperimentalWarning', modules] }
  // Confined to have no network, but not more: the cache has a folder for each user, and decoders
  // run as root of their namespace.
  const { file, args } = confine(node, { limits, input: undefined, folder: undefined }, 'network')
  const child = spawn(file, args, { env: bareEnvironment(), stdio: 'ignore' })
  child.unref()
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('exit', resolve).once('error', () => resolve(null))
  if ((await promise) !== 0) return
  try {
    writeFileSync(markerFile, '')
  } catch {
    // The next start of the server tries again.
  }
}
