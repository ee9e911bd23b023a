/**
 * The worker of supervised-worker.test.ts, a thread or a process. A task is the name of what it
 * does: `hang`, `crash`, `throw`, `wait` until it is canceled; all others come back. A process with
 * an argument, or a thread with data, sends that first.
 */
import { parentPort, workerData } from 'node:worker_threads'

const send = (message: unknown) => {
  if (parentPort) parentPort.postMessage(message)
  else process.send!(message)
}

function perform(task: unknown): void {
  if (task === 'hang') for (;;);
  if (task === 'crash') process.exit(3)
  if (task === 'throw') throw new RangeError('broken')
  if (task !== 'wait') send(task)
}

if (parentPort) parentPort.on('message', perform)
else process.on('message', perform).on('disconnect', () => process.exit())

const first = workerData ?? process.argv[2]
if (first === 'crash') process.exit(3)
if (first) send(first)
