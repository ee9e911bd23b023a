/**
 * A thread whose vocabulary does what the words say: `hang` hangs, `crash` ends it, `throw` throws,
 * `who` returns the session's name for itself, `cost N` reports that it took N milliseconds; other
 * words get a mark. Its spelling marks words too, and its add-ons return what they were given.
 */

import { parentPort } from 'node:worker_threads'
import type { ToThread } from '../../../src/text/live/text-thread.ts'
import { blockThread } from '../workers/block-thread.ts'

const opened: string[] = []

parentPort!.on('message', (message: ToThread) => {
  if (message.kind === 'open') opened.push(message.session)
  if (message.kind !== 'task') return
  const { task } = message
  const text =
    task.kind === 'add-on'
      ? task.utterancesJson
      : task.utterance.words.map(({ text }) => text).join()
  if (task.name !== 'custom_spelling' && text.includes('hang')) blockThread()
  if (task.name !== 'custom_spelling' && text.includes('crash')) process.exit(1)
  if (task.name !== 'custom_spelling' && text.includes('throw')) {
    return parentPort!.postMessage({ kind: 'failed', fault: 'TypeError' })
  }
  if (task.kind === 'add-on') {
    const results = text === 'who' ? opened.join(' ') : text
    return parentPort!.postMessage({ kind: 'done', value: { results } })
  }
  const mark = task.name === 'custom_spelling' ? '!' : '?'
  const words = task.utterance.words.map((word) => {
    return { ...word, text: word.text === 'who' ? opened.join(' ') : word.text + mark }
  })
  const ms = Number(/cost,(\d+)/.exec(text)?.[1] ?? 0)
  parentPort!.postMessage({ kind: 'done', value: words, ms })
})
