import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { AppError } from '../../errors.ts'
import { hasBrokenOff } from '../../net/connection-error.ts'
import { writeScheduler } from '../../storage/objects/write-scheduler.ts'
import { sourceError } from './source-error.ts'
import { discardBody, encodingOf } from './source-response.ts'

/** The longest pause within a body, and the window over which its rate is measured. */
export const BODY_TIMEOUT_MS = 20_000
/** 8 kbit/s, the lowest bit rate of the speech codecs in use: a slower source only holds a slot. */
const MIN_BYTES_PER_WINDOW = 1000 * (BODY_TIMEOUT_MS / 1000)

/** How often a recording is continued after its connection broke off, and the pause before that. */
const MAX_RESUMES = 5
const RESUME_PAUSE_MS = 500

/** Requests the source once more, with these headers. */
type SendRequest = (headers: Record<string, string>) => Promise<Dispatcher.ResponseData>

/** The first response, and how to get another. */
type ReceiveOptions = {
  response: Dispatcher.ResponseData
  request: SendRequest
  signal: AbortSignal
  account: string
}

/**
 * Passes on the bytes of a recording. Gives up on a source that trickles, which would hold its slot
 * until the last second. If the connection breaks off, continues from there with another one,
 * provided that the source can send a part (RFC 9110, section 14), confirms that it is of the same
 * recording, and does not compress it.
 */
export async function* receiveBody({
  response,
  request,
  signal,
  account,
}: ReceiveOptions): AsyncGenerator<Uint8Array> {
  const validator = validatorOf(response)
  // Another compression of the same recording would differ in its bytes.
  const isCompressed = encodingOf(response) !== 'identity'
  const rate = createRateCheck()
  let received = 0
  let current = response
  for (let resumes = 0; ; resumes++) {
    const before = received
    try {
      for await (const bytes of current.body as AsyncIterable<Uint8Array>) {
        received += bytes.byteLength
        await writeScheduler.next(account)
        yield bytes
        rate.add(bytes.byteLength)
      }
      return
    } catch (error) {
      const isProgress = received > before && resumes < MAX_RESUMES
      const mayGoOn = hasBrokenOff(error) && isProgress && !isCompressed
      const next = mayGoOn && validator && (await resume(request, { validator, received, signal }))
      if (!next) throw signal.aborted ? signal.reason : sourceError(error)
      current = next
    }
  }
}

/**
 * Returns what identifies the bytes of a response: its strong entity tag, or else the time of their
 * last change.
 */
function validatorOf({ headers }: Dispatcher.ResponseData): string | undefined {
  const { etag, 'last-modified': lastModified } = headers
  if (typeof etag === 'string') return etag.startsWith('W/') ? undefined : etag
  return typeof lastModified === 'string' ? lastModified : undefined
}

type Resumption = { validator: string; received: number; signal: AbortSignal }

/** Requests the rest of a recording; undefined where the source does not send just that. */
async function resume(
  request: SendRequest,
  { validator, received, signal }: Resumption,
): Promise<Dispatcher.ResponseData | undefined> {
  try {
    await pause(RESUME_PAUSE_MS, undefined, { signal })
    const response = await request({ range: `bytes=${received}-`, 'if-range': validator })
    const { statusCode, headers } = response
    const isRest = String(headers['content-range'] ?? '').startsWith(`bytes ${received}-`)
    const isSame = validatorOf(response) === validator && encodingOf(response) === 'identity'
    if (statusCode === 206 && isRest && isSame) return response
    discardBody(response)
  } catch {
    // The error that broke the connection off says more.
  }
  return undefined
}

/** Throws when bytes arrive too slowly over a whole window. */
function createRateCheck(): { add(bytes: number): void } {
  let openedAt = performance.now()
  let bytesInWindow = 0
  return {
    add(bytes) {
      bytesInWindow += bytes
      if (performance.now() - openedAt < BODY_TIMEOUT_MS) return
      if (bytesInWindow < MIN_BYTES_PER_WINDOW) {
        throw new AppError(
          'source_timeout',
          'it arrives more slowly than any recording plays (below 8 kbit/s)',
        )
      }
      openedAt = performance.now()
      bytesInWindow = 0
    },
  }
}
