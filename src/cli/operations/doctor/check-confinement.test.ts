import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findConfinement } from '../../../audio/decoder/sandbox/decoder-sandbox.ts'
import { checkConfinement, checkUser } from './check-confinement.ts'

test('doctor warns when it runs as root and not otherwise', () => {
  assert.equal(checkUser(0).state, 'warn')
  assert.equal(checkUser(1000).state, 'ok')
})

test('doctor reports how decoders are confined', async () => {
  const { state, text } = await checkConfinement()
  assert.equal(state, findConfinement() === 'none' ? 'warn' : 'ok')
  assert.match(text, /^decoders have /)
})
