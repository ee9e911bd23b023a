import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../config/config.ts'
import { engineOptions } from './engine-options.ts'

test('the number of live sessions is measured where it is not configured', () => {
  const liveOf = (env: Record<string, string>) => engineOptions(readConfig(env)).live
  assert.equal(liveOf({})?.measuresCapacity, true)
  assert.equal(liveOf({ STENO_LIVE_SLOTS: '3' })?.measuresCapacity, false)
  assert.equal(liveOf({ STENO_LIVE_SLOTS: '0' }), undefined)
})
