import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createInflateRaw } from 'node:zlib'

/** A file in an archive. The sizes are those of the archive's directory. */
type ZipEntry = { method: number; packedBytes: number; headerAt: number }

const END = 0x06054b50
const DIRECTORY_ENTRY = 0x02014b50
const END_BYTES = 22
const HEADER_BYTES = 30
const MAX_COMMENT = 0xffff
const [STORED, DEFLATED] = [0, 8]

/**
 * Appends members of a zip archive to files, in the given order (APPNOTE.TXT of PKWARE; without
 * zip64 and encryption). Rejects with `Error` when a member is missing or has another compression.
 */
export async function unzipMembers(
  archive: string,
  members: readonly { member: string; path: string }[],
  signal: AbortSignal,
): Promise<void> {
  const file = await open(archive)
  try {
    const directory = await readDirectory(file)
    for (const { member, path } of members) {
      const entry = directory.get(member)
      if (!entry) throw new Error(`Cannot unpack ${basename(archive)}: it contains no ${member}`)
      const start = await findContent(file, entry)
      const packed: Readable =
        entry.packedBytes > 0
          ? createReadStream(archive, { start, end: start + entry.packedBytes - 1 })
          : Readable.from([])
      const target = createWriteStream(path, { flags: 'a' })
      if (entry.method === STORED) await pipeline(packed, target, { signal })
      else if (entry.method === DEFLATED) {
        await pipeline(packed, createInflateRaw(), target, { signal })
      } else
        throw new Error(`Cannot unpack ${member}: its compression ${entry.method} is not known`)
    }
  } finally {
    await file.close()
  }
}

async function readDirectory(file: FileHandle): Promise<Map<string, ZipEntry>> {
  const { size } = await file.stat()
  const tail = await readZipRange(file, Math.max(0, size - END_BYTES - MAX_COMMENT), size)
  let at = tail.length - END_BYTES
  while (at >= 0 && tail.readUInt32LE(at) !== END) at--
  if (at < 0) throw new Error('Cannot unpack the archive: it is not a zip archive')
  const [bytes, start] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)]
  const directory = await readZipRange(file, start, Math.min(start + bytes, size))
  const entries = new Map<string, ZipEntry>()
  for (let i = 0; i + 46 <= directory.length && directory.readUInt32LE(i) === DIRECTORY_ENTRY; ) {
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(i + field))
    entries.set(directory.toString('utf8', i + 46, i + 46 + name!), {
      method: directory.readUInt16LE(i + 10),
      packedBytes: directory.readUInt32LE(i + 20),
      headerAt: directory.readUInt32LE(i + 42),
    })
    i += 46 + name! + extra! + comment!
  }
  return entries
}

/**
 * Returns where the content of a member begins: its own header may be longer than the directory's.
 */
async function findContent(file: FileHandle, { headerAt }: ZipEntry): Promise<number> {
  const header = await readZipRange(file, headerAt, headerAt + HEADER_BYTES)
  if (header.length < HEADER_BYTES) throw new Error('Cannot unpack the archive: it is truncated')
  return headerAt + HEADER_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
}

async function readZipRange(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, end - start))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start)
  return buffer.subarray(0, bytesRead)
}
