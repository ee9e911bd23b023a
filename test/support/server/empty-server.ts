import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { startSteno } from '../cli/run-steno.ts'

/**
 * Starts the program on an empty folder, with its real models; resolves to its link that signs in.
 */
export async function startEmptyServer(t: TestContext): Promise<{ url: string; link: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-browser-'))
  const env = {
    STENO_PORT: '0',
    STENO_WORKERS: '1',
    // A number needs no measurement at the start.
    STENO_LIVE_SLOTS: '8',
    STENO_DATA_DIR: folder,
  }
  const child = startSteno(['serve'], { env })
  t.after(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  child.stderr.resume()
  for await (const line of createInterface(child.stdout)) {
    const [link, url] = /(http:\S+)\/#\/sign-in\/\S+/.exec(line) ?? []
    if (link && url) return { url, link }
  }
  throw new Error('The server showed no link')
}
