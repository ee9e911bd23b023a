import { setTimeout as pause } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { AppError } from '../../errors.ts'
import { hasBrokenOff } from '../../net/connection-error.ts'
import { receiveScheduler } from '../../storage/objects/receive-scheduler.ts'
import { sourceError } from './source-error.ts'
import { discardBody, encodingOf } from './source-response.ts'

/** The longest pause within a body, and the window over which its rate is measured. */
export const BODY_TIMEOUT_MS = 20_000
/**
 * Minimum bytes per window: 8 kbit/s, the lowest bit rate of the speech codecs in use. A slower
 * source only holds a slot.
 */
const MIN_BYTES_PER_WINDOW = 1000 * (BODY_TIMEOUT_MS / 1000)

/**
 * How often a recording is resumed after its connection broke off, and the pause before each time.
 */
const MAX_RESUMES = 5
const RESUME_PAUSE_MS = 500

/** Sends another request to the source, with these headers. */
type SendRequest = (headers: Record<string, string>) => Promise<Dispatcher.ResponseData>

/** The first response, and the function that requests the remaining bytes. */
type ReceiveOptions = {
  response: Dispatcher.ResponseData
  request: SendRequest
  signal: AbortSignal
  account: string
}

/**
 * Yields the bytes of a recording. Throws `source_timeout` for a source that sends too slowly,
 * since it would hold its slot until the timeout. If the connection breaks off, resumes with
 * another one, provided that the source can send a range (RFC 9110, section 14), confirms that it
 * is of the same recording, and does not compress it.
 */
export async function* receiveBody({
  response,
  request,
  signal,
  account,
}: ReceiveOptions): AsyncGenerator<Uint8Array> {
  const validator = validatorOf(response)
  // The bytes of the same recording may differ in the next compressed response.
  const isCompressed = encodingOf(response) !== 'identity'
  const rate = createRateCheck()
  let received = 0
  let current = response
  for (let resumes = 0; ; resumes++) {
    const before = received
    try {
      for await (const bytes of current.body as AsyncIterable<Uint8Array>) {
        received += bytes.byteLength
        await receiveScheduler.next(account)
        yield bytes
        rate.add(bytes.byteLength)
      }
      return
    } catch (error) {
      const isProgress = received > before && resumes < MAX_RESUMES
      const canResume = hasBrokenOff(error) && isProgress && !isCompressed
      const next =
        canResume && validator && (await resume(request, { validator, received, signal }))
      if (!next) throw signal.aborted ? signal.reason : sourceError(error)
      current = next
    }
  }
}

/**
 * Returns the validator of a response, which identifies its bytes: its strong entity tag, or else
 * the time of the last change; undefined if it has neither.
 */
function validatorOf({ headers }: Dispatcher.ResponseData): string | undefined {
  const { etag, 'last-modified': lastModified } = headers
  if (typeof etag === 'string') return etag.startsWith('W/') ? undefined : etag
  return typeof lastModified === 'string' ? lastModified : undefined
}

type Resumption = { validator: string; received: number; signal: AbortSignal }

/**
 * Requests the remaining bytes of a recording; undefined if the source does not send exactly those.
 */
async function resume(
  request: SendRequest,
  { validator, received, signal }: Resumption,
): Promise<Dispatcher.ResponseData | undefined> {
  try {
    await pause(RESUME_PAUSE_MS, undefined, { signal })
    const response = await request({ range: `bytes=${received}-`, 'if-range': validator })
    const { statusCode, headers } = response
    const isRequestedRange = String(headers['content-range'] ?? '').startsWith(`bytes ${received}-`)
    const isSame = validatorOf(response) === validator && encodingOf(response) === 'identity'
    if (statusCode === 206 && isRequestedRange && isSame) return response
    discardBody(response)
  } catch {
    // The caller throws the error that broke the connection off, which says more.
  }
  return undefined
}

/** Creates a check that throws when bytes arrive too slowly over a whole window. */
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
