import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

let script: Promise<Buffer> | undefined

/**
 * Loads the script of the reference page, compressed with gzip; it is the same for every server,
 * and loaded once.
 */
export function loadScalarScript(): Promise<Buffer> {
  script ??= loadInThread().catch((error) => {
    script = undefined
    throw error
  })
  return script
}

async function loadInThread(): Promise<Buffer> {
  const thread = new Worker(new URL('scalar-thread.ts', import.meta.url))
  try {
    const [bytes]: Uint8Array<ArrayBuffer>[] = await once(thread, 'message')
    return Buffer.from(bytes!.buffer)
  } finally {
    await thread.terminate()
  }
}
