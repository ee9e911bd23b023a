/** A read that is running, and the one that the calls during it wait for. */
type Read = { running: Promise<unknown>; next?: Promise<unknown> }

/**
 * Creates a function that runs one read of each address and account at a time. Calls during a read
 * wait for its end and then share one read, so each call gets what was stored when it came or
 * later, and a hundred clients that ask for the same page cost little more than one.
 */
export function shareReads() {
  const reads = new Map<string, Read>()

  function start<T>(key: string, work: () => Promise<T>): Promise<T> {
    const running = work()
    const read: Read = { running }
    reads.set(key, read)
    const end = () => {
      if (!read.next) reads.delete(key)
    }
    running.then(end, end)
    return running
  }

  return function share<T>(
    { account, url }: { account: string; url: string },
    work: () => Promise<T>,
  ): Promise<T> {
    const key = `${account} ${url}`
    const read = reads.get(key)
    if (!read) return start(key, work)
    const next = () => start(key, work)
    read.next ??= read.running.then(next, next)
    return read.next as Promise<T>
  }
}
