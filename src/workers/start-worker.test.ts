import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { type Exit, processStarter } from './start-worker.ts'

test('the rest of a process group is killed with its leader', {
  skip: process.platform === 'win32' && 'no process groups',
}, async () => {
  // The second process holds stderr open.
  const args = ['-c', 'sleep 1000 & echo started >&2; wait']
  const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const
  const child = spawn('/bin/sh', args, { detached: true, stdio: [...stdio] })
  const started = once(child.stderr!, 'data')
  const ended = Promise.withResolvers<Exit>()
  const events = { onMessage() {}, onError: ended.reject, onExit: ended.resolve }
  const { kill } = processStarter(() => child, { leadsGroup: true })(events)
  await started
  kill()
  const { signal, stderr } = await ended.promise
  assert.deepEqual([signal, stderr], ['SIGKILL', 'started\n'])
})
