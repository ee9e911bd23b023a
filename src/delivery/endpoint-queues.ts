/** Maximum requests in flight to one endpoint: enough to saturate a receiver in the same region. */
const MAX_PER_ENDPOINT = 16
/**
 * Maximum for an endpoint that has accepted nothing yet, since it may be one of many that never
 * respond.
 */
const MAX_UNPROVEN = 4
/**
 * Maximum for a failing endpoint: enough to notice its recovery, few enough to delay no other
 * endpoint.
 */
const MAX_WHILE_FAILING = 2
/** After this many failures in a row, an endpoint counts as failing. */
const FAILING_AFTER = 5
const MAX_PER_ACCOUNT = 64
const MAX_TOTAL = 256
/**
 * Failing and unproven endpoints get at most this share of the requests of an account and of the
 * total, so that other endpoints continue.
 */
const DOUBTFUL_SHARE = 0.5

/** A request in flight. */
export type InFlight = { jobId: string | null; abort: AbortController }

/** The state of an endpoint that has deliveries to receive. */
export type EndpointQueue = {
  readonly endpointId: string
  readonly account: string
  /** When to look for deliveries next, in milliseconds since 1970; infinite if unknown. */
  nextAt: number
  /** The requests in flight by delivery id; each stays until its outcome is written. */
  readonly inFlight: Map<string, InFlight>
  failuresInARow: number
  /** Whether the endpoint is known to have accepted a delivery. */
  isProven: boolean
}

type Schedule = Pick<EndpointQueue, 'endpointId' | 'account' | 'nextAt'> & { isProven?: boolean }

type RequestCount = { all: number; doubtful: number }

/**
 * The queues of all endpoints. Decides which of them may send, so that no endpoint takes the
 * capacity of another.
 */
export class EndpointQueues {
  /** The queues by endpoint id, in the order of their turns. */
  readonly #queues = new Map<string, EndpointQueue>()
  readonly #accounts = new Map<string, RequestCount>()
  readonly #total: RequestCount = { all: 0, doubtful: 0 }

  /** Returns the ids of all deliveries in flight. */
  ids(): string[] {
    return this.#all().flatMap(({ inFlight }) => [...inFlight.keys()])
  }

  /** Yields all requests in flight. */
  *requests(): Generator<InFlight> {
    for (const { inFlight } of this.#queues.values()) yield* inFlight.values()
  }

  /** Records when a delivery is, or may be, due for an endpoint. */
  schedule({ endpointId, account, nextAt, isProven = false }: Schedule): void {
    const existingQueue = this.#queues.get(endpointId)
    if (existingQueue) {
      existingQueue.nextAt = Math.min(existingQueue.nextAt, nextAt)
      if (isProven) this.#change(existingQueue, () => markProven(existingQueue))
    } else if (nextAt < Number.POSITIVE_INFINITY) {
      const initialState = { inFlight: new Map(), failuresInARow: 0, isProven }
      this.#queues.set(endpointId, { endpointId, account, nextAt, ...initialState })
    }
  }

  /** Returns the queues that may send now, in the order of their turns. */
  ready(now: number): EndpointQueue[] {
    if (this.#total.all >= MAX_TOTAL) return []
    return this.#all().filter((queue) => queue.nextAt <= now && this.freeSlots(queue) > 0)
  }

  /** Returns the first time at which a queue with free capacity has to be checked. */
  nextAt(): number {
    let next = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values()) {
      if (queue.nextAt < next && this.freeSlots(queue) > 0) next = queue.nextAt
    }
    return next
  }

  /** Returns how many more requests may be sent to an endpoint now. */
  freeSlots(queue: EndpointQueue): number {
    const { account, inFlight } = queue
    const free = requestLimit(queue) - inFlight.size
    const count = this.#accounts.get(account) ?? { all: 0, doubtful: 0 }
    const doubtful = isDoubtful(queue)
    const slots = [
      freeRequests(count, MAX_PER_ACCOUNT, doubtful),
      freeRequests(this.#total, MAX_TOTAL, doubtful),
    ]
    return Math.max(0, Math.min(free, ...slots))
  }

  /** Counts a request that is sent; the next turn goes to another endpoint. */
  begin(queue: EndpointQueue, deliveryId: string, request: InFlight): void {
    this.#change(queue, () => queue.inFlight.set(deliveryId, request))
    this.#queues.delete(queue.endpointId)
    this.#queues.set(queue.endpointId, queue)
  }

  /** Stops counting a request; `isSuccess` is undefined if it had no outcome. */
  end(
    queue: EndpointQueue,
    deliveryId: string,
    { isSuccess }: { isSuccess: boolean | undefined },
  ): void {
    this.#change(queue, () => {
      queue.inFlight.delete(deliveryId)
      if (isSuccess !== undefined) queue.failuresInARow = isSuccess ? 0 : queue.failuresInARow + 1
      if (isSuccess) markProven(queue)
    })
    this.drop(queue)
  }

  /** Removes an endpoint that has nothing to receive. */
  drop({ endpointId, inFlight, nextAt }: EndpointQueue): void {
    if (inFlight.size === 0 && nextAt === Number.POSITIVE_INFINITY) this.#queues.delete(endpointId)
  }

  #all(): EndpointQueue[] {
    return [...this.#queues.values()]
  }

  /** Changes a queue, and updates the counts. */
  #change(queue: EndpointQueue, change: () => void): void {
    this.#count(queue, -1)
    change()
    this.#count(queue, 1)
  }

  #count(queue: EndpointQueue, sign: 1 | -1): void {
    const { account, inFlight } = queue
    const counts = this.#accounts.get(account) ?? { all: 0, doubtful: 0 }
    for (const count of [counts, this.#total]) {
      count.all += sign * inFlight.size
      if (isDoubtful(queue)) count.doubtful += sign * inFlight.size
    }
    if (counts.all > 0) this.#accounts.set(account, counts)
    else this.#accounts.delete(account)
  }
}

function isFailing({ failuresInARow }: EndpointQueue): boolean {
  return failuresInARow >= FAILING_AFTER
}

function markProven(queue: EndpointQueue): void {
  queue.isProven = true
}

function isDoubtful(queue: EndpointQueue): boolean {
  return isFailing(queue) || !queue.isProven
}

/** Returns the maximum requests in flight to an endpoint. */
function requestLimit(queue: EndpointQueue): number {
  if (isFailing(queue)) return MAX_WHILE_FAILING
  return queue.isProven ? MAX_PER_ENDPOINT : MAX_UNPROVEN
}

function freeRequests(
  { all, doubtful }: RequestCount,
  limit: number,
  forDoubtful: boolean,
): number {
  return forDoubtful ? Math.min(limit - all, limit * DOUBTFUL_SHARE - doubtful) : limit - all
}
