import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { remoteOptions } from '../../app/remote-asr.ts'
import type { Config } from '../../config/config.ts'
import { createLog } from '../../observability/log.ts'
import type { CheckResult } from '../operations/doctor/checks.ts'

/** The length of the test audio: half a second at 16 kHz, because servers may charge for it. */
const SAMPLES = 8000

/**
 * Checks whether the remote engine responds, if one is configured, by sending it a short silence.
 */
export async function checkRemoteEngine(
  config: Config,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const options = remoteOptions(config, createLog('silent'))
  if (!options) return []
  const { createRemoteRecognizer } = await import('../../asr/engines/remote/remote-recognizer.ts')
  const remote = createRemoteRecognizer(options)
  const folder = await mkdtemp(join(tmpdir(), 'steno-doctor-'))
  const path = join(folder, 'silence')
  const { model } = options
  const host = new URL(config.models.remote!.url).host
  try {
    await writeFile(path, Buffer.alloc(SAMPLES * 2))
    const [language] = remote.describe().capabilities.languages
    const settings = { model: 'remote', language, languages: [], vocabulary: [] }
    const batch = { channel: 0, path, segments: [{ start: 0, end: SAMPLES }], ...settings }
    await remote.recognize(batch, { signal, use: 'live' })
    return [{ state: 'ok', text: `remote engine: ${model} at ${host} answers` }]
  } catch (error) {
    const text = `remote engine: ${model} at ${host}: ${(error as Error).message}`
    return [{ state: 'fail', text, remedy: 'see the STENO_REMOTE_ASR_ settings' }]
  } finally {
    await remote.close()
    await rm(folder, { recursive: true, force: true })
  }
}
