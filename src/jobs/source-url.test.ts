import assert from 'node:assert/strict'
import test from 'node:test'
import { filenameOf } from './source-url.ts'

test('a fetched recording is named by the last part of the path, decoded', () => {
  assert.equal(filenameOf('https://a.example/calls/Call%20No%201.mp3?token=x#t'), 'Call No 1.mp3')
  assert.equal(filenameOf('https://a.example/100%.mp3'), '100%.mp3')
  assert.equal(filenameOf('https://a.example/'), null)
  assert.equal(filenameOf('https://a.example'), null)
})
