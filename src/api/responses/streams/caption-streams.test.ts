import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import test from 'node:test'
import type { Job } from '../../../storage/jobs/jobs.ts'
import { CaptionStreams } from './caption-streams.ts'

test('a viewer that disconnects between two captions is forgotten', async () => {
  const caption = { id: 'u', is_final: true, start: 0, channel: 0, language: 'en', text: 'hello' }
  const ended = Promise.withResolvers<void>()
  const live = {
    runs: () => true,
    async *watch() {
      try {
        for (;;) yield caption
      } finally {
        ended.resolve()
      }
    },
  }
  const streams = new CaptionStreams({ live } as never)
  const reply = { raw: new EventEmitter(), type: () => reply, header: () => reply }
  const watch = { request: { headers: {}, method: 'GET' }, reply, isAllowed: async () => true }
  const stream = await streams.open({ id: 'job' } as Job, watch as never)
  for await (const text of stream) if (String(text).includes('event: caption')) break
  await ended.promise
  assert.ok(stream.destroyed)
})
