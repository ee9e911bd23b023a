import { type Frame, FrameQueue } from './frame-queue.ts'
import { TokenBucket } from './token-bucket.ts'

/** What becomes of the frames of one socket. */
export type LineHandlers = {
  /** A promise holds up the frames behind it. */
  handle(frame: Frame): Promise<void> | undefined
  /** Frames wait: no more should be read, and again they may. */
  onFull(): void
  onFree(): void
}

/** How frames take turns; `turn` and `later` are given by tests. */
export type FrameTurnsOptions = {
  now?: () => number
  turn?: (run: () => void) => void
  later?: (run: () => void, ms: number) => void
}

/**
 * A frame takes the server some 30 µs whatever is in it, so one as large as this is paid for by its bytes: a
 * file may come as fast as the network in frames of 100 ms. A smaller one costs what it lacks: at most 1.
 */
const FREE_BYTES = 1600
/** Five times as many as clients send that stream: they send 10 to 50 a second. */
const SMALL_PER_SECOND = 250
/** What a client kept through a minute without a connection comes at once. */
const SMALL_AT_ONCE = 3000
/** All frames together hold the loop for some milliseconds at most. */
const FRAMES_PER_TURN = 64
const BYTES_PER_TURN = 2 * 1024 * 1024
/** Those that wait for their credit are looked at again after this time. */
const CREDIT_MS = 50

/**
 * Hands on the frames of all sockets, so that none of them holds the loop: so many in each of its turns,
 * of accounts one after the other, and of each socket no more small ones than its credit allows. What has
 * to wait keeps its order, and its socket is not read meanwhile.
 */
export class FrameTurns {
  readonly #now: () => number
  readonly #turn: (run: () => void) => void
  readonly #later: (run: () => void, ms: number) => void
  /** Lines with frames that may be handled, by account; both take turns by being put at the end. */
  readonly #ready = new Map<string, Set<FrameLine>>()
  #frames = 0
  #bytes = 0
  #isScheduled = false
  readonly #poor = new Set<FrameLine>()

  constructor({
    now = () => performance.now(),
    turn = (run) => void setImmediate(run),
    later = (run, ms) => void setTimeout(run, ms),
  }: FrameTurnsOptions = {}) {
    this.#now = now
    this.#turn = turn
    this.#later = later
  }

  /** The frames of one more socket. */
  open(account: string, handlers: LineHandlers): FrameLine {
    const credit = new TokenBucket({
      perSecond: SMALL_PER_SECOND,
      burst: SMALL_AT_ONCE,
      now: this.#now,
    })
    return new FrameLine({ ...handlers, account, credit, turns: this })
  }

  /** Whether a frame of so many bytes may be handled in this turn of the loop; counts it if so. */
  admit(bytes: number): boolean {
    this.#schedule()
    if (this.#frames >= FRAMES_PER_TURN || this.#bytes >= BYTES_PER_TURN) return false
    this.#frames++
    this.#bytes += bytes
    return true
  }

  /** A line has frames that wait for a turn. */
  wake(line: FrameLine): void {
    const lines = this.#ready.get(line.account) ?? new Set()
    lines.add(line)
    this.#ready.set(line.account, lines)
    this.#schedule()
  }

  /** A line has frames and no credit. */
  wakeLater(line: FrameLine): void {
    if (this.#poor.size === 0) this.#later(() => this.#wakePoor(), CREDIT_MS)
    this.#poor.add(line)
  }

  #wakePoor(): void {
    const poor = [...this.#poor]
    this.#poor.clear()
    for (const line of poor) this.wake(line)
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
      const [account, lines] = next
      const [line] = lines
      // To the end of both lists, if there is more of it.
      this.#ready.delete(account)
      if (line) lines.delete(line)
      if (lines.size > 0) this.#ready.set(account, lines)
      if (!line) continue
      const outcome = line.step()
      if (outcome === 'more' || outcome === 'full') this.wake(line)
      if (outcome === 'full') return
    }
  }
}

type LineOptions = LineHandlers & { account: string; credit: TokenBucket; turns: FrameTurns }

/** The frames of one socket on their way in. */
export class FrameLine {
  readonly #options: LineOptions
  readonly #queue = new FrameQueue()
  #isHeld = false
  #isFull = false
  #isClosed = false
  #drained: (() => void) | undefined

  constructor(options: LineOptions) {
    this.#options = options
  }

  get account(): string {
    return this.#options.account
  }

  /** Frames that wait. */
  get length(): number {
    return this.#queue.length
  }

  /** Has a frame handled, now or when those before it were and it is its turn. */
  push(frame: Frame): void {
    if (this.#isClosed) return
    const { turns, credit } = this.#options
    const isFirst = this.#queue.length === 0 && !this.#isHeld
    if (isFirst && credit.take(costOf(frame))) {
      if (turns.admit(frame.data?.length ?? 0)) {
        this.#handle(frame)
        return
      }
      credit.take(-costOf(frame))
    }
    this.#queue.push(frame)
    this.#fill()
    if (isFirst) turns.wake(this)
  }

  /** Handles the first frame that waits, and tells what became of that. */
  step(): 'more' | 'full' | 'waits' {
    const frame = this.#queue.peek()
    if (!frame || this.#isHeld || this.#isClosed) return 'waits'
    const { turns, credit } = this.#options
    if (!credit.take(costOf(frame))) {
      turns.wakeLater(this)
      return 'waits'
    }
    if (!turns.admit(frame.data?.length ?? 0)) {
      credit.take(-costOf(frame))
      return 'full'
    }
    this.#queue.shift()
    this.#handle(frame)
    if (this.#queue.length > 0) return this.#isHeld ? 'waits' : 'more'
    this.#free()
    return 'waits'
  }

  /** Resolves when all frames that wait are handled, or the line was closed; undefined when none wait. */
  drained(): Promise<void> | undefined {
    if (this.#isClosed || this.#queue.length === 0) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#drained = resolve
    return promise
  }

  /** Forgets what waits: nobody wants it any more. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#queue.clear()
    this.#drained?.()
    // The socket is read again, for the client's answer to the close.
    if (this.#isFull) this.#options.onFree()
  }

  #handle(frame: Frame): void {
    const held = this.#options.handle(frame)
    if (!held) return
    this.#isHeld = true
    this.#fill()
    void held.then(() => {
      this.#isHeld = false
      if (this.#queue.length > 0) this.#options.turns.wake(this)
      else this.#free()
    })
  }

  #fill(): void {
    if (this.#isFull) return
    this.#isFull = true
    this.#options.onFull()
  }

  #free(): void {
    if (this.#isHeld || this.#queue.length > 0) return
    this.#drained?.()
    if (!this.#isFull || this.#isClosed) return
    this.#isFull = false
    this.#options.onFree()
  }
}

function costOf({ data }: Frame): number {
  return Math.max(0, 1 - (data?.length ?? 0) / FREE_BYTES)
}
