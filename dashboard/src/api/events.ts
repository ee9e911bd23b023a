import { apiAddress, signedIn } from './api.ts'

/** How long changes are collected before the listeners are called once. */
const TOGETHER_MS = 200
/**
 * How long to wait before a refused stream is opened again. Browsers do not retry it, although a
 * proxy may refuse it only while the server starts.
 */
const REOPEN_MS = 3000

const listeners = new Set<() => void>()
let source: EventSource | undefined
let timer = 0

/**
 * Calls `listener` whenever a job, a delivery or, for an operator, a pulled model may have changed;
 * returns a function that stops this.
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
 * Opens the stream while there are listeners, and closes it otherwise: a browser has few
 * connections to one server, which hidden pages must not occupy.
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
  const opened = new EventSource(apiAddress('v2/events'))
  // The listeners are called once, because the stream does not report earlier changes.
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
