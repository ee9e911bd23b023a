import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { openStorage } from '../../storage.ts'
import { lockFolder } from './folder-lock.ts'

const log = createLog('silent')

test('a folder in use is rejected until its server closes', async (t) => {
  const folder = await makeFolder(t)
  const first = await openStorage({ folder, log })
  await assert.rejects(openStorage({ folder, log }), /another server is using/)
  await first.close()
  const second = await openStorage({ folder, log })
  await second.close()
})

test('a lock ends with its process, even when killed', async (t) => {
  const folder = await makeFolder(t)
  const module = JSON.stringify(new URL('./folder-lock.ts', import.meta.url).href)
  const script = `const { lockFolder } = await import(${module})
    lockFolder(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: [...stdio],
  })
  t.after(() => holder.kill('SIGKILL'))
  await once(holder.stdout!, 'data')
  assert.throws(() => lockFolder(folder), /another server is using/)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  lockFolder(folder).release()
})

test('the error of a damaged lock names the remedy', async (t) => {
  const folder = await makeFolder(t)
  writeFileSync(
    join(folder, 'server.lock'),
    'not a database, and longer than a header: '.repeat(30),
  )
  assert.throws(() => lockFolder(folder), /server\.lock: .* \(it has no data: delete it\)$/)
})
