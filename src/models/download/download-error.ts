import { parseRetryAfter } from '../../net/retry-after.ts'

/** The reason why a file cannot be fetched; the message may contain a remedy. */
export class DownloadError extends Error {
  override name = 'DownloadError'
  /** Whether the same request may succeed a moment later. */
  readonly isTransient: boolean
  /** How long the server asks to wait before the next attempt. */
  readonly retryAfterMs: number | undefined

  constructor(
    problem: string,
    {
      isTransient,
      retryAfterMs,
      cause,
    }: { isTransient: boolean; retryAfterMs?: number | undefined; cause?: unknown },
  ) {
    super(problem, { cause })
    this.isTransient = isTransient
    this.retryAfterMs = retryAfterMs
  }
}

/** Remedies for failed responses, by status. */
const remedies: Record<number, string> = {
  401: 'the address requires a token: set HF_TOKEN, or check STENO_MODELS_MIRROR',
  403: 'access is refused: accept the terms of the model at its page and set HF_TOKEN, or use a mirror',
  404: 'the file is not there: check STENO_MODELS_MIRROR or HF_ENDPOINT',
  407: 'the proxy requires a user name and a password: put them into HTTPS_PROXY',
  410: 'the file was removed from there: set STENO_MODELS_MIRROR, or import it from a folder',
  429: 'the server accepts no more requests for now: try again later, or set HF_TOKEN',
  451: 'the file is blocked there: set STENO_MODELS_MIRROR, or import it from a folder',
}

/** Returns the error of a response other than the file. `retryAfter` is the header of that name. */
export function statusError(status: number, retryAfter: string | undefined): DownloadError {
  const isTransient = status >= 500 || status === 408 || status === 425 || status === 429
  const remedy = remedies[status]
  return new DownloadError(`the server responds with ${status}${remedy ? `; ${remedy}` : ''}`, {
    isTransient,
    retryAfterMs: parseRetryAfter(retryAfter, { now: Date.now() }),
  })
}

/** Returns the error of a server that sends something else than the file, such as a web page. */
export function contentError(problem: string): DownloadError {
  const remedy =
    'check STENO_MODELS_MIRROR or HF_ENDPOINT, and whether a proxy or a sign-in page is in between'
  return new DownloadError(`the server ${problem}; ${remedy}`, { isTransient: false })
}
