import { readSync, writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { toPlain } from '../../errors.ts'
import { decodeFile, probeAndDecodeShort, probeFile } from './decode-file.ts'
import type { DecoderMessage, DecoderRequest } from './decoder-messages.ts'

type DoneResult = Extract<DecoderMessage, { type: 'done' }>['result']

/** The descriptor of the pipe that delivers the content. */
const CONTENT_DESCRIPTOR = 4
/**
 * The interval of progress messages, which feed the progress display and the watchdog of the
 * server.
 */
const REPORT_MS = 250

/**
 * The program of a decoder process: serves one request of its parent, then exits; after a short
 * recording, waits for another request instead. See `decoder-client.ts` and `decoder-pool.ts`.
 */
process.on('disconnect', () => process.exit())
process.on('message', (request: DecoderRequest) => {
  void runRequest(request).then((message) => {
    process.send!(message, () => {
      if (request.task !== 'short') process.exit()
    })
  })
})
preferForOomKiller()

async function runRequest(request: DecoderRequest): Promise<DecoderMessage> {
  let fraction = 0
  let reportedAt = 0
  async function heartbeat(): Promise<void> {
    if (performance.now() - reportedAt > REPORT_MS) {
      reportedAt = performance.now()
      process.send!({ type: 'progress', fraction } satisfies DecoderMessage)
    }
    await setImmediate()
  }
  const perform = (request: DecoderRequest): Promise<DoneResult> => {
    if (request.task === 'probe') return probeFile(request, heartbeat)
    if (request.task === 'short') {
      if (request.sentBytes !== undefined) receiveContent(request.file, request.sentBytes)
      return probeAndDecodeShort(request, heartbeat)
    }
    return decodeFile(request, { heartbeat, onProgress: (part) => (fraction = part) })
  }
  try {
    return { type: 'done', result: await perform(request) }
  } catch (error) {
    return { type: 'failed', error: toPlain(error) }
  }
}

/** Stores `size` bytes from the pipe. Reads synchronously, since nothing else runs here. */
function receiveContent(file: string, size: number): void {
  const content = Buffer.alloc(size)
  for (let filled = 0; filled < size; ) {
    const count = readSync(CONTENT_DESCRIPTOR, content, { offset: filled })
    if (count === 0) throw new Error('the content of the recording is incomplete')
    filled += count
  }
  writeFileSync(file, content)
}

/**
 * Makes the out-of-memory killer choose the decoder, so that a file that exhausts the memory ends
 * the decoder and not the server. Linux only.
 */
function preferForOomKiller(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file; containers may forbid it.
  }
}
