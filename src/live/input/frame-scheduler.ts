import { FrameQueue, type SocketFrame } from './frame-queue.ts'
import { TokenBucket } from './token-bucket.ts'

/** The callbacks of the queue of one socket. */
export type SocketQueueHandlers = {
  /** Handles a frame. The frames behind it wait for a returned promise. */
  handle(frame: SocketFrame): Promise<void> | undefined
  /** Called when frames wait, so that reading must pause. */
  onPause(): void
  /** Called when no frames wait any more, so that reading may resume. */
  onResume(): void
}

/**
 * Options of the frame scheduler, for tests: the clock in milliseconds, and how work is scheduled
 * for the next turn of the event loop and for later.
 */
export type FrameSchedulerOptions = {
  now?: () => number
  turn?: (run: () => void) => void
  later?: (run: () => void, ms: number) => void
}

/**
 * The server takes about 30 µs for a frame of any size. A frame of at least this size costs no
 * credit, so that a file may arrive as fast as the network allows in frames of 100 ms. A smaller
 * one costs the missing fraction, at most 1.
 */
const FREE_BYTES = 1600
/**
 * Credit per second. Most clients send 10 to 50 frames a second. A page that sends each block of an
 * `AudioWorklet` (128 samples) sends 750 at 96 kHz.
 */
const CREDIT_PER_SECOND = 800
/**
 * Maximum credit: a client may send at once what it buffered during a minute without a connection.
 */
const MAX_CREDIT = 3000
/** Limits of one turn of the event loop, which block it for some milliseconds at most. */
const FRAMES_PER_TURN = 64
const BYTES_PER_TURN = 2 * 1024 * 1024
/** Queues that wait for credit are checked again after this time. */
const CREDIT_CHECK_MS = 50

/**
 * Schedules the frames of all sockets, so that none of them blocks the event loop: a limited number
 * in each turn of the loop, from one account after the other, and from each socket no more small
 * frames than its credit allows. Waiting frames keep their order, and meanwhile their socket is not
 * read.
 */
export class FrameScheduler {
  readonly #now: () => number
  readonly #turn: (run: () => void) => void
  readonly #later: (run: () => void, ms: number) => void
  /** Queues with frames that may be handled, by account; both rotate by moving to the end. */
  readonly #ready = new Map<string, Set<SocketQueue>>()
  #frames = 0
  #bytes = 0
  #isScheduled = false
  readonly #throttled = new Set<SocketQueue>()

  constructor({
    now = () => performance.now(),
    turn = (run) => void setImmediate(run),
    later = (run, ms) => void setTimeout(run, ms),
  }: FrameSchedulerOptions = {}) {
    this.#now = now
    this.#turn = turn
    this.#later = later
  }

  /** Opens a queue for the frames of a socket. */
  open(account: string, handlers: SocketQueueHandlers): SocketQueue {
    const credit = new TokenBucket({
      perSecond: CREDIT_PER_SECOND,
      burst: MAX_CREDIT,
      now: this.#now,
    })
    return new SocketQueue({ ...handlers, account, credit, scheduler: this })
  }

  /**
   * Returns whether a frame of this size may be handled in this turn of the loop; counts it if so.
   */
  tryAcquire(bytes: number): boolean {
    this.#schedule()
    if (this.#frames >= FRAMES_PER_TURN || this.#bytes >= BYTES_PER_TURN) return false
    this.#frames++
    this.#bytes += bytes
    return true
  }

  /** Reports that a queue has frames that wait for a turn. */
  wake(queue: SocketQueue): void {
    const queues = this.#ready.get(queue.account) ?? new Set()
    queues.add(queue)
    this.#ready.set(queue.account, queues)
    this.#schedule()
  }

  /** Reports that a queue has frames and no credit. */
  wakeLater(queue: SocketQueue): void {
    if (this.#throttled.size === 0) this.#later(() => this.#wakeThrottled(), CREDIT_CHECK_MS)
    this.#throttled.add(queue)
  }

  #wakeThrottled(): void {
    const throttled = [...this.#throttled]
    this.#throttled.clear()
    for (const queue of throttled) this.wake(queue)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#turn(() => {
      this.#isScheduled = false
      this.#frames = 0
      this.#bytes = 0
      this.#run()
    })
  }

  #run(): void {
    for (;;) {
      const next = this.#ready.entries().next().value
      if (!next) return
      const [account, queues] = next
      const [queue] = queues
      // If more frames wait, `wake` moves the queue and its account to the end.
      this.#ready.delete(account)
      if (queue) queues.delete(queue)
      if (queues.size > 0) this.#ready.set(account, queues)
      if (!queue) continue
      const outcome = queue.step()
      if (outcome === 'more' || outcome === 'turn-over') this.wake(queue)
      if (outcome === 'turn-over') return
    }
  }
}

type SocketQueueOptions = SocketQueueHandlers & {
  account: string
  credit: TokenBucket
  scheduler: FrameScheduler
}

/** The incoming frames of one socket. */
class SocketQueue {
  readonly #options: SocketQueueOptions
  readonly #queue = new FrameQueue()
  #isHandling = false
  #isPaused = false
  #isClosed = false
  #drained: (() => void) | undefined

  constructor(options: SocketQueueOptions) {
    this.#options = options
  }

  get account(): string {
    return this.#options.account
  }

  /** The number of waiting frames. */
  get length(): number {
    return this.#queue.length
  }

  /** Handles a frame, now or in its turn after the frames before it. */
  push(frame: SocketFrame): void {
    if (this.#isClosed) return
    const { scheduler, credit } = this.#options
    const isFirst = this.#queue.length === 0 && !this.#isHandling
    if (isFirst && credit.take(costOf(frame))) {
      if (scheduler.tryAcquire(frame.data?.length ?? 0)) {
        this.#handle(frame)
        return
      }
      credit.giveBack(costOf(frame))
    }
    this.#queue.push(frame)
    this.#pause()
    if (isFirst) scheduler.wake(this)
  }

  /**
   * Handles the first waiting frame. Returns `more` when more frames are ready, `turn-over` when
   * this turn of the event loop is used up, and `waits` when the queue has nothing to do until it
   * is woken.
   */
  step(): 'more' | 'turn-over' | 'waits' {
    const frame = this.#queue.peek()
    if (!frame || this.#isHandling || this.#isClosed) return 'waits'
    const { scheduler, credit } = this.#options
    if (!credit.take(costOf(frame))) {
      scheduler.wakeLater(this)
      return 'waits'
    }
    if (!scheduler.tryAcquire(frame.data?.length ?? 0)) {
      credit.giveBack(costOf(frame))
      return 'turn-over'
    }
    this.#queue.shift()
    this.#handle(frame)
    if (this.#queue.length > 0) return this.#isHandling ? 'waits' : 'more'
    this.#resume()
    return 'waits'
  }

  /**
   * Resolves when all waiting frames are handled, or the queue was closed; undefined when none
   * wait.
   */
  drained(): Promise<void> | undefined {
    if (this.#isClosed || this.#queue.length === 0) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#drained = resolve
    return promise
  }

  /** Drops the waiting frames. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.clear()
    this.#drained?.()
    // The socket is read again, for the client's answer to the close.
    if (this.#isPaused) this.#options.onResume()
  }

  #handle(frame: SocketFrame): void {
    const handling = this.#options.handle(frame)
    if (!handling) return
    this.#isHandling = true
    this.#pause()
    void handling.then(() => {
      this.#isHandling = false
      if (this.#queue.length > 0) this.#options.scheduler.wake(this)
      else this.#resume()
    })
  }

  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    this.#options.onPause()
  }

  #resume(): void {
    if (this.#isHandling || this.#queue.length > 0) return
    this.#drained?.()
    if (!this.#isPaused || this.#isClosed) return
    this.#isPaused = false
    this.#options.onResume()
  }
}

function costOf({ data }: SocketFrame): number {
  return Math.max(0, 1 - (data?.length ?? 0) / FREE_BYTES)
}
