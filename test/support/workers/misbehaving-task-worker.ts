/**
 * The worker of supervised-worker.test.ts, a thread or a process. A task is the name of what it
 * does: `hang`, `starve`, `crash`, `throw`, `wait` until it is canceled; all others come back. A
 * process with an argument, or a thread with data, sends that first.
 */
import { parentPort, workerData } from 'node:worker_threads'

const send = (message: unknown) => {
  if (parentPort) parentPort.postMessage(message)
  else process.send!(message)
}

function perform(task: unknown): void {
  if (task === 'hang') for (;;);
  if (task === 'starve') starve()
  if (task === 'crash') process.exit(3)
  if (task === 'throw') throw new RangeError('broken')
  if (task !== 'wait') send(task)
}

/** Works as a process or thread does on a busy machine: a quarter of the time. */
function starve(): void {
  const begun = process.threadCpuUsage()
  const used = () => {
    const { user, system } = process.threadCpuUsage(begun)
    return (user + system) / 1000
  }
  for (let ms = 10; ms <= 750; ms += 10) {
    while (used() < ms);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30)
  }
}

if (parentPort) parentPort.on('message', perform)
else process.on('message', perform).on('disconnect', () => process.exit())

const first = workerData ?? process.argv[2]
if (first === 'crash') process.exit(3)
if (first) send(first)
