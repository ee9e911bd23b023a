import { constants } from 'node:fs'
import { access, lstat, mkdtemp, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { secondsSince } from '../../../clock.ts'
import { type Config, readConfig, unknownSettings } from '../../../config/config.ts'
import { REINSTALL, REINSTALL_MODELS } from '../../../config/installation.ts'
import { isDiskFull, messageOf } from '../../../errors.ts'
import { inGigabytes } from '../../../models/install/require-space.ts'
import { createLog } from '../../../observability/log.ts'
import { createDiskMeter, reserveOf } from '../../../storage/data-folder/disk.ts'
import { localUrl } from '../../client/server-url.ts'
import { SAMPLE } from '../../server/start-message.ts'
import { explainListenError, tryListening } from '../../server/try-listening.ts'
import { findExposures } from './exposure.ts'

/** The finding of a check; `remedy` says how to fix it. */
export type CheckResult = { state: 'ok' | 'warn' | 'fail'; text: string; remedy?: string }

// Checks import modules that may fail to load inside the function: whether they load is part of the
// check.

/** With less free space, one or two recordings fill the disk. */
const LOW_BYTES = 2_000_000_000
/** With less free space, not even a job can be stored. */
const MIN_BYTES = 1_000_000
/**
 * Timeout of the recognition: loading the models and recognizing one second takes a few seconds
 * even on a small machine.
 */
const RECOGNITION_TIMEOUT_MS = 120_000

/** Checks whether this Node runs TypeScript directly and has `node:sqlite`. */
export function checkNode(): CheckResult {
  const { node } = process.versions
  if (Number.parseInt(node, 10) >= 24) return { state: 'ok', text: `Node ${node}` }
  return { state: 'fail', text: `Node ${node} is too old, 24 is needed`, remedy: REINSTALL }
}

/** Checks the settings. Returns one finding for each problem, or a single one if there is none. */
export function checkSettings(env: Record<string, string | undefined>): CheckResult[] {
  const results: CheckResult[] = unknownSettings(env).map((name) => {
    const remedy = 'docs/configuration.md lists every setting'
    return { state: 'warn', text: `${name} is not a setting and is ignored`, remedy }
  })
  try {
    for (const exposure of findExposures(readConfig(env))) {
      results.push({ state: 'warn', ...exposure })
    }
  } catch (error) {
    for (const line of messageOf(error).split('\n')) results.push({ state: 'fail', text: line })
  }
  return results.length > 0 ? results : [{ state: 'ok', text: 'settings' }]
}

/** Checks whether every byte of the models is as installed. */
export async function checkModelFiles({ models: { folder } }: Config): Promise<CheckResult> {
  const { findDamage } = await import('../../../asr/model-files/bundled-record.ts')
  const damaged = await findDamage(folder, { hashes: true })
  if (damaged.length === 0) return { state: 'ok', text: `models in ${folder}, checksums match` }
  const text = `models in ${folder}: missing or damaged: ${damaged.join(', ')}`
  return { state: 'fail', text, remedy: REINSTALL_MODELS }
}

/** Checks whether the native runtime of the models loads on this machine. */
export async function checkRuntime(): Promise<CheckResult> {
  try {
    await import('../../../asr/onnx/onnx-runtime.ts')
    return { state: 'ok', text: 'ONNX Runtime loads' }
  } catch (error) {
    const text = `ONNX Runtime does not load: ${messageOf(error)}`
    return { state: 'fail', text, remedy: REINSTALL }
  }
}

/** Loads a model on the configured device; undefined if that is the CPU. */
export async function checkDevice({ models }: Config): Promise<CheckResult | undefined> {
  const { device, folder } = models
  if (device === 'cpu') return undefined
  const { knownDevices, loadModel } = await import('../../../asr/onnx/onnx-runtime.ts')
  const { bundledModels } = await import('../../../asr/model-files/bundled-packages.ts')
  try {
    const session = await loadModel(bundledModels(folder).vad, { device })
    await session.release()
    const text = `device ${device} loads a model; Steno was never tested on it`
    return { state: 'warn', text, remedy: `compare some texts with those of STENO_DEVICE=cpu` }
  } catch (error) {
    const knownDevicesText = `this machine's ONNX Runtime knows ${knownDevices().join(', ')}`
    const remedy =
      device === 'cuda' || device === 'tensorrt'
        ? `'npm rebuild onnxruntime-node --onnxruntime-node-install=cuda12' installs its files; ${knownDevicesText}`
        : knownDevicesText
    return { state: 'fail', text: messageOf(error), remedy }
  }
}

/** Checks whether the folder of temporary files is writable; undefined if it is. */
export async function checkTemporaryFolder(): Promise<CheckResult | undefined> {
  try {
    await rm(await mkdtemp(join(tmpdir(), 'steno-doctor-')), { recursive: true })
    return undefined
  } catch (error) {
    const text = `temporary files: ${messageOf(error)}`
    return { state: 'fail', text, remedy: 'set TMPDIR to a folder that can be written' }
  }
}

/** Decodes a recording with the decoder that the server would use. */
export async function checkDecoder({ media }: Config, signal: AbortSignal): Promise<CheckResult> {
  const { decodeMedia } = await import('../../../audio/decode-media.ts')
  const folder = await mkdtemp(join(tmpdir(), 'steno-doctor-'))
  try {
    const options = { maxSeconds: media.maxAudio, signal }
    const { duration } = await decodeMedia(SAMPLE, folder, options)
    return { state: 'ok', text: `decoder: ${duration.toFixed(1)} s of FLAC decoded` }
  } catch (error) {
    const text = `decoder: ${messageOf(error)}`
    return { state: 'fail', text, remedy: REINSTALL }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Checks whether the data folder, or the folder in which it would be created, is writable and has
 * free space.
 */
export async function checkDataFolder({ storage }: Config): Promise<CheckResult> {
  const { folder } = storage
  const existing = await nearestExisting(folder)
  try {
    // The slash rejects a file, even one that can be executed.
    await access(`${existing}/`, constants.W_OK | constants.X_OK)
    if (existing !== folder) await tryCreating(existing, basename(folder))
  } catch {
    const text = `data folder ${folder} cannot be written`
    return { state: 'fail', text, remedy: 'set STENO_DATA_DIR to a folder of yours' }
  }
  const { findUnusable } = await import('../../../storage/objects/disk/file-modes.ts')
  const [unusable, ...others] = existing === folder ? await findUnusable(folder) : []
  if (unusable !== undefined) {
    const othersText = others.length > 0 ? ` and ${others.length} more` : ''
    const text = `data folder ${folder}: this user may not read and write ${unusable}${othersText}`
    const remedy = 'give the folder to this user with chown -R, or set STENO_DATA_DIR to another'
    return { state: 'fail', text, remedy }
  }
  const { free, size } = await createDiskMeter(existing)()
  const reserve = reserveOf({ size }, storage.minFreeBytes)
  const text = `data folder ${folder}, ${inGigabytes(free)} free`
  if (free >= LOW_BYTES && free >= reserve) return { state: 'ok', text }
  const remedy = 'free some space, or set STENO_DATA_DIR to another disk'
  const state = free < MIN_BYTES ? 'fail' : 'warn'
  if (free >= reserve || state === 'fail') return { state, text, remedy }
  const refused = `new work is refused below ${inGigabytes(reserve)} (STENO_MIN_FREE_BYTES)`
  return { state, text: `${text}; ${refused}`, remedy }
}

/**
 * Rejects if no folder with a name of this length can be created in `parent`, as in `/proc`. A full
 * disk is another problem.
 */
async function tryCreating(parent: string, name: string): Promise<void> {
  try {
    await rmdir(await mkdtemp(`${parent}/${name.slice(0, -6)}`))
  } catch (error) {
    if (!isDiskFull(error)) throw error
  }
}

/** Checks whether other users of this machine can open the database or the recordings. */
export async function checkPrivacy({ storage: { folder } }: Config): Promise<CheckResult> {
  const { findAccessibleFiles } = await import('../../../storage/objects/disk/file-modes.ts')
  const open = await findAccessibleFiles(folder)
  if (open.length === 0) return { state: 'ok', text: 'other users cannot read the data folder' }
  const text = `other users of this machine can open ${open.join(', ')}`
  return {
    state: 'warn',
    text,
    remedy: `the next start closes them; or run 'chmod -R go= ${folder}'`,
  }
}

/** Checks whether the server could open its database. */
export async function checkDatabase({ storage }: Config): Promise<CheckResult> {
  const { examineDatabase, examineShared } = await import(
    '../../../storage/database/direct-access.ts'
  )
  const texts = {
    none: 'no database yet',
    free: 'database opens',
    'in-use': `database, which a running server uses: another one needs a STENO_DATA_DIR of its own`,
  }
  try {
    if (!storage.database)
      return { state: 'ok', text: texts[await examineDatabase(storage.folder)] }
    return { state: 'ok', text: `database ${await examineShared(storage.database)} opens` }
  } catch (error) {
    return { state: 'fail', text: messageOf(error) }
  }
}

/** Checks the object store with a small object; undefined if objects are in the data folder. */
export async function checkObjectStore({ storage }: Config): Promise<CheckResult | undefined> {
  if (!storage.objectStore) return undefined
  const { examineS3 } = await import('../../../storage/objects/s3/s3-objects.ts')
  try {
    return { state: 'ok', text: `object store ${await examineS3(storage.objectStore)} works` }
  } catch (error) {
    return { state: 'fail', text: messageOf(error) }
  }
}

/** Returns the path, or the nearest one above it that exists; a link to nothing exists. */
async function nearestExisting(path: string): Promise<string> {
  const fileStat = await lstat(path).catch(() => undefined)
  return fileStat || dirname(path) === path ? path : nearestExisting(dirname(path))
}

/** Checks whether the server can listen on its port, or already does. */
export async function checkPort({ http: { host, port } }: Config): Promise<CheckResult> {
  const url = localUrl({ host, port })
  const health = await fetch(`${url}/health`).catch(() => undefined)
  if (health?.ok) return { state: 'ok', text: `port ${port}: a server answers at ${url}` }
  try {
    await tryListening({ host, port })
    return { state: 'ok', text: `port ${port} is free` }
  } catch (error) {
    return { state: 'fail', text: `port ${port}: ${explainListenError(error)}` }
  }
}

/** Loads the models in a worker process and recognizes one second of audio. */
export async function checkRecognition(config: Config, signal: AbortSignal): Promise<CheckResult> {
  const { createSpeechEngine } = await import('../../../asr/create-speech-engine.ts')
  const { folder } = config.models
  const speech = createSpeechEngine({ folder, workers: 1, log: createLog('silent') })
  const startedAt = performance.now()
  try {
    const limit = AbortSignal.timeout(RECOGNITION_TIMEOUT_MS)
    await speech.checkReady({ signal: AbortSignal.any([signal, limit]) })
    const seconds = secondsSince(startedAt).toFixed(1)
    return {
      state: 'ok',
      text: `recognition: models loaded and one second recognized in ${seconds} s`,
    }
  } catch (error) {
    return { state: 'fail', text: `recognition: ${messageOf(error)}`, remedy: REINSTALL }
  } finally {
    await speech.close()
  }
}
