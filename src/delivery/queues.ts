/** Requests in flight to one endpoint; so many fill a receiver in the same region, and hold little here. */
const MAX_PER_ENDPOINT = 16
/** Until an endpoint has taken something: it may be one of many that never answer. */
const MAX_UNPROVEN = 4
/** While an endpoint fails: enough to notice that it is back, few enough to hold up nobody. */
const MAX_WHILE_FAILING = 2
/** So many failures in a row, and an endpoint counts as failing. */
const FAILING_AFTER = 5
const MAX_PER_ACCOUNT = 64
const MAX_IN_ALL = 256
/** Endpoints that fail or are unproven, of an account or in all, have no more than this share: others go on. */
const DOUBTFUL_SHARE = 0.5

/** A request on its way. */
export type InFlight = { jobId: string | null; abort: AbortController }

/** What is known of an endpoint while it has something to be told. */
export type Queue = {
  readonly endpointId: string
  readonly account: string
  /** When to look for deliveries next, in milliseconds since 1970; infinite when none is known. */
  nextAt: number
  /** By the id of the delivery; one stays until its end is written. */
  readonly inFlight: Map<string, InFlight>
  failuresInARow: number
  /** Whether it was seen to take something. */
  isProven: boolean
}

type Touch = Pick<Queue, 'endpointId' | 'account' | 'nextAt'> & { isProven?: boolean }

type Tally = { all: number; doubtful: number }

/** The queues of all endpoints, and who of them may send: nobody takes the room of another. */
export class Queues {
  /** In the order in which they have their turn. */
  readonly #queues = new Map<string, Queue>()
  readonly #accounts = new Map<string, Tally>()
  readonly #total: Tally = { all: 0, doubtful: 0 }

  /** Requests in flight. */
  get inFlight(): number {
    return this.#total.all
  }

  /** All requests in flight. */
  *requests(): Generator<InFlight> {
    for (const { inFlight } of this.#queues.values()) yield* inFlight.values()
  }

  /** There is something for an endpoint at this moment, or may be. */
  touch({ endpointId, account, nextAt, isProven = false }: Touch): void {
    const known = this.#queues.get(endpointId)
    if (known) {
      known.nextAt = Math.min(known.nextAt, nextAt)
      if (isProven) this.#change(known, () => prove(known))
    } else if (nextAt < Number.POSITIVE_INFINITY) {
      const fresh = { inFlight: new Map(), failuresInARow: 0, isProven }
      this.#queues.set(endpointId, { endpointId, account, nextAt, ...fresh })
    }
  }

  /** The queues that may send now, each in its turn. */
  ready(now: number): Queue[] {
    if (this.#total.all >= MAX_IN_ALL) return []
    return this.#all().filter((queue) => queue.nextAt <= now && this.room(queue) > 0)
  }

  /** The first moment at which a queue that has room is to be looked at. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values()) {
      if (queue.nextAt < next && this.room(queue) > 0) next = queue.nextAt
    }
    return next
  }

  /** How many more requests an endpoint may have. */
  room(queue: Queue): number {
    const { account, inFlight } = queue
    const own = most(queue) - inFlight.size
    const tally = this.#accounts.get(account) ?? { all: 0, doubtful: 0 }
    const doubtful = isDoubtful(queue)
    const rooms = [left(tally, MAX_PER_ACCOUNT, doubtful), left(this.#total, MAX_IN_ALL, doubtful)]
    return Math.max(0, Math.min(own, ...rooms))
  }

  /** Counts a request that goes out; the next turn is another endpoint's. */
  begin(queue: Queue, deliveryId: string, request: InFlight): void {
    this.#change(queue, () => queue.inFlight.set(deliveryId, request))
    this.#queues.delete(queue.endpointId)
    this.#queues.set(queue.endpointId, queue)
  }

  /** Counts a request no more; `isSuccess` is undefined when it came to nothing. */
  end(queue: Queue, deliveryId: string, { isSuccess }: { isSuccess: boolean | undefined }): void {
    this.#change(queue, () => {
      queue.inFlight.delete(deliveryId)
      if (isSuccess !== undefined) queue.failuresInARow = isSuccess ? 0 : queue.failuresInARow + 1
      if (isSuccess) prove(queue)
    })
    this.drop(queue)
  }

  /** Forgets an endpoint that has nothing to be told. */
  drop({ endpointId, inFlight, nextAt }: Queue): void {
    if (inFlight.size === 0 && nextAt === Number.POSITIVE_INFINITY) this.#queues.delete(endpointId)
  }

  #all(): Queue[] {
    return [...this.#queues.values()]
  }

  /** Takes a queue out of the counts, changes it, and counts it again. */
  #change(queue: Queue, change: () => void): void {
    this.#count(queue, -1)
    change()
    this.#count(queue, 1)
  }

  #count(queue: Queue, sign: 1 | -1): void {
    const { account, inFlight } = queue
    const own = this.#accounts.get(account) ?? { all: 0, doubtful: 0 }
    for (const tally of [own, this.#total]) {
      tally.all += sign * inFlight.size
      if (isDoubtful(queue)) tally.doubtful += sign * inFlight.size
    }
    if (own.all > 0) this.#accounts.set(account, own)
    else this.#accounts.delete(account)
  }
}

function isFailing({ failuresInARow }: Queue): boolean {
  return failuresInARow >= FAILING_AFTER
}

function prove(queue: Queue): void {
  queue.isProven = true
}

function isDoubtful(queue: Queue): boolean {
  return isFailing(queue) || !queue.isProven
}

/** How many requests an endpoint may have. */
function most(queue: Queue): number {
  if (isFailing(queue)) return MAX_WHILE_FAILING
  return queue.isProven ? MAX_PER_ENDPOINT : MAX_UNPROVEN
}

function left({ all, doubtful }: Tally, limit: number, forDoubtful: boolean): number {
  return forDoubtful ? Math.min(limit - all, limit * DOUBTFUL_SHARE - doubtful) : limit - all
}
