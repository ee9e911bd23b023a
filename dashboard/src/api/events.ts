import { addressOf, signedIn } from './api.ts'

/** Several changes that come together are one to those who look. */
const TOGETHER_MS = 200
/** A browser gives up a stream that is refused, as by a proxy while the server starts. */
const REOPEN_MS = 3000

const listeners = new Set<() => void>()
let source: EventSource | undefined
let timer = 0

/**
 * Calls `listener` whenever a job, a delivery or, for an operator, a pulled model may have changed;
 * returns what ends that.
 */
export function onEvent(listener: () => void): () => void {
  listeners.add(listener)
  update()
  return () => {
    listeners.delete(listener)
    update()
  }
}

/**
 * Opens the stream while somebody listens, and ends it otherwise: a browser has few connections to
 * one server, which hidden pages must not hold.
 */
function update(): void {
  const isNeeded = listeners.size > 0 && signedIn.value && document.visibilityState === 'visible'
  if (isNeeded) source ??= open()
  else {
    source?.close()
    source = undefined
  }
}

function open(): EventSource {
  const opened = new EventSource(addressOf('v2/events'))
  // The stream does not report what happened before it began.
  for (const name of ['open', 'job', 'session', 'delivery', 'model'])
    opened.addEventListener(name, notifyListeners)
  opened.addEventListener('error', () => {
    if (opened.readyState !== EventSource.CLOSED) return
    setTimeout(() => {
      if (source !== opened) return
      source = undefined
      update()
      // If the key is no longer accepted, the listeners' requests end the sign-in.
      notifyListeners()
    }, REOPEN_MS)
  })
  return opened
}

function notifyListeners(): void {
  clearTimeout(timer)
  timer = window.setTimeout(() => {
    for (const listener of listeners) listener()
  }, TOGETHER_MS)
}

document.addEventListener('visibilitychange', update)
signedIn.subscribe(update)
