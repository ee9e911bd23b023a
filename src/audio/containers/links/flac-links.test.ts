import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesSource } from '../byte-source.ts'
import { findFlacLinks } from './flac-links.ts'

const MARKER = 'fLaC\x00\x00\x00\x22'

function file(length: number, marker = MARKER): Buffer {
  const bytes = Buffer.alloc(length, 1)
  bytes.write(marker, 'latin1')
  return bytes
}

const linksOf = (...files: Buffer[]) => findFlacLinks(bytesSource(Buffer.concat(files)))

test('joined FLAC files are parts, also where a marker lies across two blocks', () => {
  const second = 1024 * 1024 - 3
  const third = 2 * 1024 * 1024
  const files = [file(second), file(third - second, 'fLaC\x80\x00\x00\x22'), file(50)]
  assert.deepEqual(linksOf(...files), [
    { start: 0, end: second },
    { start: second, end: third },
    { start: third, end: third + 50 },
  ])
})

test('tags before a FLAC file belong to its part', () => {
  const tags = Buffer.from('ID3')
  assert.deepEqual(linksOf(tags, file(50), file(50)), [
    { start: 0, end: 53 },
    { start: 53, end: 103 },
  ])
})

test('a single FLAC file has no parts, even if it contains the letters of the marker', () => {
  assert.deepEqual(linksOf(file(50), Buffer.from('fLaC is a format')), [])
})

test('only the first thousand of endless files are parts', () => {
  assert.equal(linksOf(...Array.from({ length: 2000 }, () => file(20))).length, 1000)
})
