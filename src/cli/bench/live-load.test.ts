import assert from 'node:assert/strict'
import test from 'node:test'
import { MICROPHONE_FORMAT } from '../live/live-recorder.ts'
import { measureLiveLoad } from './live-load.ts'

const audio = {
  format: MICROPHONE_FORMAT,
  async *chunks() {},
  async [Symbol.asyncDispose]() {},
}
const signal = new AbortController().signal
const options = { sessions: 2, seconds: 1, wantsPartials: true, signal }

test('sessions that the server refuses are not in time, and keep the reason', async () => {
  const client = {
    async createLive(): Promise<never> {
      throw new Error('Cannot open more live sessions')
    },
  }
  assert.deepEqual(await measureLiveLoad({ audio, client }, options), {
    sessions: 2,
    ackMs: undefined,
    firstPartialMs: undefined,
    finalMs: undefined,
    isInTime: false,
    refusal: 'Cannot open more live sessions',
  })
})
