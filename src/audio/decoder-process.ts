import { writeFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { toPlain } from '../errors.ts'
import type { DecodeRequest, DecoderMessage, ProbeRequest } from './decoder-messages.ts'
import { decodeFile, probeFile } from './decoding.ts'

/** Often enough for a progress bar and for the watchdog on the other side. */
const REPORT_MS = 250

/**
 * A separate program: takes one request from its parent, answers it, ends. See `decoder-client.ts`.
 */
process.on('disconnect', () => process.exit())
process.on('message', (request: ProbeRequest | DecodeRequest) => {
  void run(request).then((message) => process.send!(message, () => process.exit()))
})
offerToOutOfMemoryKiller()

async function run(request: ProbeRequest | DecodeRequest): Promise<DecoderMessage> {
  let fraction = 0
  let reportedAt = 0
  async function heartbeat(): Promise<void> {
    if (performance.now() - reportedAt > REPORT_MS) {
      reportedAt = performance.now()
      process.send!({ type: 'progress', fraction } satisfies DecoderMessage)
    }
    await setImmediate()
  }
  try {
    const result =
      request.task === 'probe'
        ? await probeFile(request, heartbeat)
        : await decodeFile(request, { heartbeat, onProgress: (part) => (fraction = part) })
    return { type: 'done', result }
  } catch (error) {
    return { type: 'failed', error: toPlain(error) }
  }
}

/**
 * Makes the out-of-memory killer choose the decoder, so that a file that exhausts the memory ends
 * the decoder and not the server. Linux only.
 */
function offerToOutOfMemoryKiller(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // Other systems have no such file; containers may forbid it.
  }
}
