import type { FastifyBaseLogger } from 'fastify'
import type { Bindings } from 'pino'
import type { Log } from '../../observability/log.ts'

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const

/**
 * Returns the log of one request, with `bindings` in each line. It creates the child log only when
 * the first line is written, because that takes a twentieth of the time of a short request.
 */
export function requestLog(parent: Log, bindings: Bindings): FastifyBaseLogger {
  return new LazyLog(parent, bindings) as unknown as FastifyBaseLogger
}

type Method = (...line: unknown[]) => void

class LazyLog {
  readonly #parent: Log
  readonly #bindings: Bindings
  #child: Log | undefined

  constructor(parent: Log, bindings: Bindings) {
    this.#parent = parent
    this.#bindings = bindings
  }

  static {
    const methods: Record<string, Method> = {}
    for (const level of levels) {
      methods[level] = function (this: LazyLog, ...line) {
        if (this.#parent.isLevelEnabled(level)) (this.#log[level] as Method)(...line)
      }
    }
    Object.assign(LazyLog.prototype, methods)
  }

  get #log(): Log {
    this.#child ??= this.#parent.child(this.#bindings)
    return this.#child
  }

  child(bindings: Bindings): LazyLog {
    return new LazyLog(this.#parent, { ...this.#bindings, ...bindings })
  }
}
