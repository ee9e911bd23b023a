import { inflateRawSync } from 'node:zlib'

/** Signatures and sizes of the records of a ZIP file. */
const END = { signature: 0x06054b50, bytes: 22 }
const ENTRY = { signature: 0x02014b50, bytes: 46 }
const LOCAL_BYTES = 30
const DEFLATED = 8

/**
 * Returns the files of a ZIP archive in memory by their path, stored or deflated ones, by its
 * directory (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT). For files under 4 GB
 * whose hash is known. Throws `RangeError` when it is none.
 */
export function readZip(archive: Buffer): [path: string, content: Buffer][] {
  let end = archive.length - END.bytes
  while (end >= 0 && archive.readUInt32LE(end) !== END.signature) end--
  if (end < 0) throw new RangeError('not a ZIP file')
  let at = archive.readUInt32LE(end + 16)
  return Array.from({ length: archive.readUInt16LE(end + 10) }, () => {
    if (archive.readUInt32LE(at) !== ENTRY.signature) throw new RangeError('a damaged ZIP file')
    const method = archive.readUInt16LE(at + 10)
    const length = archive.readUInt32LE(at + 20)
    const [name, extra, comment] = [28, 30, 32].map((field) => archive.readUInt16LE(at + field))
    const local = archive.readUInt32LE(at + 42)
    const path = archive.toString('utf8', at + ENTRY.bytes, at + ENTRY.bytes + name!)
    // The local record may have other extra fields than the directory.
    const skipped = archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const from = local + LOCAL_BYTES + skipped
    const data = archive.subarray(from, from + length)
    at += ENTRY.bytes + name! + extra! + comment!
    return [path, method === DEFLATED ? inflateRawSync(data) : data]
  })
}
