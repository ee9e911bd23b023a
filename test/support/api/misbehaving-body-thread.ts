/**
 * A body thread that hangs on a body of `h`, crashes on one of `b`, and returns the bytes of all
 * others.
 */

import { parentPort } from 'node:worker_threads'
import type { BodyTask } from '../../../src/api/bodies/parsing/parse-body.ts'
import { blockThread } from '../workers/block-thread.ts'

parentPort!.on('message', ({ bytes }: BodyTask) => {
  const text = Buffer.from(bytes).toString()
  if (text.startsWith('b')) process.exit(1)
  if (text.startsWith('h')) blockThread()
  parentPort!.postMessage({ kind: 'read', outcome: { audio_url: text } })
})
