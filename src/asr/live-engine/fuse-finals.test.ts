import assert from 'node:assert/strict'
import test from 'node:test'
import { fuseFinals } from './fuse-finals.ts'
import type { FinalResult } from './live-engine.ts'

const { signal } = new AbortController()

function final(model: string, spoken: string, confidence: number): FinalResult {
  const words = spoken.split(' ').map((text, i) => {
    return { text, start: i, end: i + 0.9, confidence }
  })
  return { words, model, language: 'en', warnings: [model] }
}
const first = final('a', 'the bred is here', 0.5)
const textOf = ({ words }: FinalResult) => words.map(({ text }) => text).join(' ')

test('fuseFinals joins the words of two finals', async () => {
  const second = async () => final('b', 'the bread is here', 0.9)
  const joined = await fuseFinals({ first: Promise.resolve(first), second, signal })
  assert.equal(textOf(joined), 'the bread is here')
  assert.deepEqual([joined.model, joined.warnings], ['a+b', ['a', 'b']])
})

test('a second final that fails or is late is left out and aborted', async () => {
  const fails = async () => Promise.reject(new Error('crashed'))
  assert.equal(await fuseFinals({ first: Promise.resolve(first), second: fails, signal }), first)
  let canceled = false
  const late = (abort: AbortSignal) => {
    abort.addEventListener('abort', () => {
      canceled = true
    })
    return new Promise<FinalResult>(() => {})
  }
  const alone = await fuseFinals({
    first: Promise.resolve(first),
    second: late,
    signal,
    maxDelayMs: 1,
  })
  assert.equal(alone, first)
  assert.ok(canceled)
})

test('fuseFinals fails when the first final fails', async () => {
  const second = async () => final('b', 'x', 0.9)
  const failed = Promise.reject(new Error('crashed'))
  await assert.rejects(fuseFinals({ first: failed, second, signal }), /crashed/)
})
