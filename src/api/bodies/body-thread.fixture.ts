/** A thread of bodies that hangs with a body of `h`, breaks down with one of `b`, and answers with all others' bytes. */
import { parentPort } from 'node:worker_threads'
import type { BodyTask } from './read-body.ts'

parentPort!.on('message', ({ bytes }: BodyTask) => {
  const text = Buffer.from(bytes).toString()
  if (text.startsWith('b')) process.exit(1)
  if (text.startsWith('h')) for (;;);
  parentPort!.postMessage({ kind: 'read', outcome: { audio_url: text } })
})
