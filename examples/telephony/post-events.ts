/** A receiver that does not answer within this time has failed. */
const TIMEOUT_MS = 10_000
/** Events that wait for a slow receiver; later ones are only printed. */
const MAX_WAITING = 1000

/** Returns a function that posts events to an address, in order, each once. */
export function postEvents(
  address: string,
  onError: (message: string) => void,
): (event: object) => void {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0

  async function post(event: object): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const body = JSON.stringify(event)
    try {
      const { ok, status } = await fetch(address, { method: 'POST', headers, body, signal })
      if (!ok) onError(`${address} answered ${status}`)
    } catch {
      onError(`Cannot reach ${address}`)
    }
  }

  return (event) => {
    if (waiting >= MAX_WAITING) return onError(`${address} is too slow: an event was not sent`)
    waiting++
    last = last.then(() => post(event)).finally(() => waiting--)
  }
}
