import assert from 'node:assert/strict'
import test from 'node:test'
import { targetAt } from './forward-socket.ts'

test('a request is forwarded to its path at the node, whatever precedes the path', () => {
  for (const url of ['/v2/live?token=a', '//v2/live?token=a', 'http://other/v2/live?token=a']) {
    assert.equal(targetAt('http://node:70/', { url }).href, 'http://node:70/v2/live?token=a')
  }
})
