import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CaptionFeed, type LiveCaption } from './caption-feed.ts'

const never = new AbortController().signal

function publish(feed: CaptionFeed, id: string, text: string, is_final = true): void {
  const times = { start: 1, end: 2, confidence: 0.9, channel: 0, language: 'en' }
  feed.publish({ id, is_final, utterance: { ...times, text: ` ${text}`, words: [] } })
}

async function readAll(captions: AsyncIterable<LiveCaption>): Promise<string[]> {
  const texts: string[] = []
  for await (const { id, text, is_final } of captions) {
    texts.push(`${id} ${text}${is_final ? '.' : '…'}`)
  }
  return texts
}

test('a late viewer gets the last finals, then later captions until the end', async () => {
  const feed = new CaptionFeed()
  for (let i = 0; i < 60; i++) publish(feed, `u${i}`, 'said')
  const watching = readAll(feed.watch(never))
  await new Promise(setImmediate)
  publish(feed, 'new', 'he', false)
  await new Promise(setImmediate)
  publish(feed, 'new', 'hello')
  feed.end()
  const texts = await watching
  assert.deepEqual([texts.length, texts[0]], [52, 'u10 said.'])
  assert.deepEqual(texts.slice(-2), ['new he…', 'new hello.'])
  assert.equal((await readAll(feed.watch(never))).length, 50)
})

test('a slow viewer skips partials, and one that does not read is disconnected', async () => {
  const feed = new CaptionFeed()
  const slow = feed.watch(never)
  const first = slow.next()
  for (const text of ['a', 'ab', 'abc']) publish(feed, 'u', text, false)
  assert.equal((await first).value?.text, 'abc')
  for (let i = 0; i < 1000; i++) publish(feed, `u${i}`, 'x')
  assert.ok((await readAll(slow)).length <= 201)
})

test('an aborted viewer gets no more captions', async () => {
  const feed = new CaptionFeed()
  const gone = new AbortController()
  const reading = readAll(feed.watch(gone.signal))
  await new Promise(setImmediate)
  gone.abort()
  publish(feed, 'u', 'x')
  assert.deepEqual(await reading, [])
})
