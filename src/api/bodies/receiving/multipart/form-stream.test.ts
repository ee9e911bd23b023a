import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FormStream } from './form-stream.ts'

const part = '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\ny\r\n'

function formOf(parts: number): Buffer {
  return Buffer.from(`${part.repeat(parts)}--b--\r\n`)
}

test('a form with many parts is forwarded in slices, yielding between them', async () => {
  const stream = new FormStream('multipart/form-data; boundary=b', turn)
  const slices: string[] = []
  let turns = 0
  let counter = setImmediate(function next() {
    turns++
    counter = setImmediate(next)
  })
  stream.on('data', (bytes: Buffer) =>
    slices.push(`${bytes.toString().split('--b\r\n').length - 1} of ${turns}`),
  )
  stream.end(formOf(100))
  await new Promise((resolve) => stream.once('end', resolve))
  clearImmediate(counter)
  assert.deepEqual(
    slices.map((one) => one.split(' ')[0]),
    ['20', '20', '20', '20', '20', '0'],
  )
  assert.equal(new Set(slices.map((one) => one.split(' ')[2])).size, 6, slices.join())
})

test('the form stream forwards the bytes unchanged', async () => {
  for (const type of ['boundary=b', 'boundary="b"; charset=utf-8', 'charset=x;BOUNDARY=b', '']) {
    const stream = new FormStream(`multipart/form-data; ${type}`, turn)
    stream.end(formOf(100))
    assert.deepEqual(await buffer(stream), formOf(100))
  }
})

test('a form with too many parts fails', async () => {
  const stream = new FormStream('multipart/form-data; boundary=b', turn)
  stream.end(formOf(501))
  await assert.rejects(buffer(stream), { code: 'body_too_large' })
})
