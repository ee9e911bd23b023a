/** A thread whose steps are the `steps` of a job's parameters; `hang` hangs, `crash` ends it, `throw` throws. */
import { parentPort } from 'node:worker_threads'
import { type Composition, type FromThread, noteStep } from './composer.ts'

parentPort!.on('message', ({ id, result, given, step }: Composition) => {
  const tell = (message: FromThread) => parentPort!.postMessage(message)
  for (const name of result.params.steps as string[]) {
    if (given[name]) continue
    noteStep(step, name)
    tell({ id, kind: 'step', name })
    if (name === 'hang') for (;;);
    if (name === 'crash') process.exit(1)
    if (name === 'throw') return tell({ id, kind: 'failed', message: 'it quotes the transcript' })
  }
  tell({ id, kind: 'done', text: JSON.stringify(given) })
})
