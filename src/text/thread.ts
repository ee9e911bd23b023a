/**
 * The thread in which results are composed: a transcript in, the JSON text of its result out, the name of
 * each step before it begins. Started by `composer.ts`.
 */
import { parentPort } from 'node:worker_threads'
import { compose } from './compose.ts'
import { type Composition, type FromThread, noteStep } from './composer.ts'

parentPort!.on('message', ({ id, transcript, result, given, step }: Composition) => {
  const tell = (message: FromThread) => parentPort!.postMessage(message)
  try {
    const onStep = (name: string) => {
      noteStep(step, name)
      tell({ id, kind: 'step', name })
    }
    const composed = compose(transcript, result, { given, onStep })
    tell({ id, kind: 'done', text: JSON.stringify(composed) })
  } catch (error) {
    tell({ id, kind: 'failed', message: String(error) })
  }
})
