import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

let script: Buffer | undefined

/** The script of the reference page, compressed with gzip; it is the same for every server. */
export async function loadScalarScript(): Promise<Buffer> {
  script ??= await loadInThread()
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
