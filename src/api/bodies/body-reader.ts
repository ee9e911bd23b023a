import type { FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import { AppError } from '../../errors.ts'
import { addToCount } from '../../numbers.ts'
import type { Log } from '../../observability/log.ts'
import { limitConcurrency } from '../middleware/limit-concurrency.ts'
import { BodyThread } from './parsing/body-thread.ts'
import {
  type BodyKind,
  type BodyOutcomes,
  type BodyTask,
  createBodyParser,
} from './parsing/parse-body.ts'

/**
 * A body up to this length takes at most a millisecond to parse and validate; nearly all are
 * shorter.
 */
export const SHORT_BYTES = 16 * 1024

/**
 * Maximum long bodies of an account that wait: more than a key can send at once, and at most 128
 * MB.
 */
const MAX_WAITING = 128

/** Options of the body reader. */
export type BodyReaderOptions = { config: Pick<Config, 'models' | 'requests' | 'llm'>; log: Log }

/** The account of a request, and the bytes of its body, as `acceptJson` provides them. */
export type BodyRequest = Pick<FastifyRequest, 'account'> & { body: unknown }

/**
 * Reads the bodies of requests. Short ones are read at once, long ones in a thread: a megabyte of
 * JSON takes a tenth of a second, which must not block the event loop. At most one long body per
 * account is in the thread or its queue, so that each request waits for at most one body of every
 * other account.
 */
export class BodyReader {
  readonly #parseBody: ReturnType<typeof createBodyParser>
  readonly #thread: BodyThread
  readonly #runInTurn = limitConcurrency()
  readonly #waitingByAccount = new Map<string, number>()

  constructor({ config, log }: BodyReaderOptions) {
    this.#parseBody = createBodyParser(config)
    this.#thread = new BodyThread({ settings: config, log: log.child({ module: 'api' }) })
  }

  /**
   * Reads a request's body as the given kind; rejects with `content_type_unsupported` when there is
   * none, with `body_unreadable` or `request_invalid`, and with `rate_limited` when too many long
   * ones of the account wait.
   */
  async read<K extends BodyKind>(
    kind: K,
    { account, body: bytes }: BodyRequest,
    { wantsFingerprint = false }: Partial<Pick<BodyTask, 'wantsFingerprint'>> = {},
  ): Promise<BodyOutcomes[K]> {
    if (!(bytes instanceof Uint8Array)) {
      throw new AppError('content_type_unsupported', 'the request has no body')
    }
    const task = { kind, bytes, wantsFingerprint }
    if (bytes.byteLength <= SHORT_BYTES) return this.#parseBody(task)
    if ((this.#waitingByAccount.get(account) ?? 0) >= MAX_WAITING) {
      const detail = `${MAX_WAITING} large bodies of this account wait to be read`
      throw new AppError('rate_limited', detail, { retryAfter: 1 })
    }
    addToCount(this.#waitingByAccount, account, 1)
    try {
      return await this.#runInTurn(account, () => this.#thread.read(task))
    } finally {
      addToCount(this.#waitingByAccount, account, -1)
    }
  }

  /** Ends the thread. */
  close(): Promise<void> {
    return this.#thread.close()
  }
}
