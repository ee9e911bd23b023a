import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { SessionStore } from '../../../../src/storage/live/session-store.ts'
import { audioAfter, audioAt, lineOf } from '../session-audio.ts'

/** A new session in a store, and what opens it again once it is closed. */
export type TestedSession = { store: SessionStore; reopen(): Promise<SessionStore> }

/** Writes `count` calls of 100 bytes and a line each, all at once. */
export function writeCalls(
  store: SessionStore,
  { from = 0, count }: { from?: number; count: number },
): Promise<void>[] {
  return Array.from({ length: count }, (_, i) => {
    const [start, end] = [(from + i) * 100, (from + i + 1) * 100]
    return store.write(audioAt(start, end), [lineOf(from + i, end)])
  })
}

/** Returns all lines of a session. */
export async function linesOf(store: SessionStore): Promise<string[]> {
  return (await Array.fromAsync(store.readLines())).flat()
}

/**
 * Checks that there are `count` lines, in order, with the audio that they report, and nothing else.
 */
export async function assertStored(store: SessionStore, count?: number): Promise<number> {
  const lines = await linesOf(store)
  if (count !== undefined) assert.equal(lines.length, count)
  for (const [n, line] of lines.entries()) assert.equal(JSON.parse(line).n, n)
  const sent = lines.length === 0 ? 0 : audioAfter(lines.at(-1)!)
  assert.equal(store.audioBytes, sent)
  assert.ok(audioAt(0, sent).equals(await store.readAudio(0, sent)), 'the audio that was written')
  return lines.length
}

/** Tests what every session store guarantees; `create` makes a new session. */
export function testSessionStore(
  name: string,
  create: (t: TestContext) => Promise<TestedSession>,
): void {
  test(`${name}: written data is read back in order`, async (t) => {
    const { store, reopen } = await create(t)
    assert.deepEqual([store.audioBytes, store.logBytes, await linesOf(store)], [0, 0, []])
    const calls = writeCalls(store, { count: 500 })
    assert.equal((await linesOf(store)).length, 500, 'it sees what was given before')
    await Promise.all(calls)
    await assertStored(store, 500)
    assert.deepEqual(Buffer.from(await store.readAudio(777, 999)), audioAt(777, 999))
    await store.close()
    await assertStored(await reopen(), 500)
  })

  test(`${name}: lines without audio, audio without lines and empty writes work`, async (t) => {
    const { store, reopen } = await create(t)
    await Promise.all([
      store.write(undefined, [lineOf(0, 0), lineOf(1, 0)]),
      store.write(audioAt(0, 10), []),
      store.write(new Uint8Array(0), []),
      store.write(undefined, [lineOf(2, 10)]),
    ])
    await store.close()
    await assertStored(await reopen(), 3)
  })

  test(`${name}: reading audio beyond what was written is an error`, async (t) => {
    const { store } = await create(t)
    await store.write(audioAt(0, 10), [])
    for (const [from, to] of [
      [0, 11],
      [-1, 4],
      [5, 4],
    ] as const) {
      await assert.rejects(store.readAudio(from, to), RangeError)
    }
    assert.equal((await store.readAudio(10, 10)).length, 0)
  })

  test(`${name}: lines of any length are read whole, many in batches`, async (t) => {
    const { store, reopen } = await create(t)
    const lengths = [10, 300_000, 32_700, 32_768, 5, 70_000, ...Array(3000).fill(100)]
    for (const [n, length] of lengths.entries()) void store.write(undefined, [lineOf(n, 0, length)])
    const pieces = await Array.fromAsync(store.readLines())
    assert.deepEqual(
      pieces.flat(),
      lengths.map((length, n) => lineOf(n, 0, length)),
    )
    assert.ok(pieces.every((lines) => lines.length < 1000))
    await store.close()
    await assertStored(await reopen(), lengths.length)
  })

  test(`${name}: durable lines are read from any position, unsynced ones are not`, async (t) => {
    const { store, reopen } = await create(t)
    const storedFrom = async (from: SessionStore, start: number) => {
      return (await Array.fromAsync(from.readDurableLines(start))).flat()
    }
    await Promise.all(writeCalls(store, { count: 3 }))
    assert.deepEqual(await storedFrom(store, 0), [])
    const { audioBytes, logBytes } = await store.sync()
    await Promise.all(writeCalls(store, { from: 3, count: 1 }))
    const lines = await storedFrom(store, 0)
    assert.deepEqual(
      lines.map(({ text }) => text),
      [lineOf(0, 100), lineOf(1, 200), lineOf(2, 300)],
    )
    assert.deepEqual([audioBytes, logBytes], [300, lines.at(-1)!.end])
    assert.deepEqual(await storedFrom(store, lines[0]!.end), lines.slice(1))
    assert.deepEqual(await storedFrom(store, lines[2]!.end), [])
    await store.close()
    assert.equal((await storedFrom(await reopen(), 0)).length, 4)
  })

  test(`${name}: concurrent sync calls share one sync after earlier writes`, async (t) => {
    const { store } = await create(t)
    const [call] = writeCalls(store, { count: 1 })
    let isWritten = false
    const written = call!.then(() => {
      isWritten = true
    })
    const sync = store.sync()
    assert.equal(sync, store.sync())
    await sync
    assert.ok(isWritten)
    assert.notEqual(sync, store.sync())
    await Promise.all([written, store.sync()])
  })

  test(`${name}: a line that contains a line break is an error`, async (t) => {
    const { store } = await create(t)
    assert.throws(() => store.write(undefined, ['a\nb']), TypeError)
  })

  test(`${name}: after close nothing is written, and earlier writes are kept`, async (t) => {
    const { store, reopen } = await create(t)
    const calls = Promise.all([...writeCalls(store, { count: 50 }), store.sync()])
    await store.close()
    await calls
    await assert.rejects(store.write(undefined, ['x']), /is closed/)
    await assert.rejects(store.sync(), /is closed/)
    await assertStored(await reopen(), 50)
  })

  test(`${name}: deleting a session leaves nothing and may be repeated`, async (t) => {
    const { store, reopen } = await create(t)
    await Promise.all(writeCalls(store, { count: 1 }))
    await store.close()
    await store.delete()
    await store.delete()
    const left = await reopen().then(linesOf, () => [])
    assert.deepEqual(left, [])
  })
}
