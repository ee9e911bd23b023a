import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { channelFile, type DecodedChannel } from '../channels/channel-files.ts'
import { SAMPLE_RATE } from '../pcm.ts'
import type { DecodedMedia, DecodedSamples } from './decoder-messages.ts'

/** Milliseconds for which the samples of an upload are kept for its job. */
const EXPIRY_MS = 60_000
/** Characters of base64 that are kept in total: eight minutes of one channel. */
const MAX_CHARACTERS = 20_000_000

type CacheEntry = { decoded: DecodedSamples; characters: number; expiry: NodeJS.Timeout }

/** The entries by key, the oldest first. */
const cacheEntries = new Map<string, CacheEntry>()
let characters = 0

/**
 * Returns the key of a decoded file. It contains the name, which decides how a file without a
 * header is read.
 */
export function decodedKey(file: string, nameHint: string | undefined): string {
  return JSON.stringify([file, nameHint])
}

/** Keeps the samples of a short file in memory for `EXPIRY_MS`, or until a caller takes them. */
export function keepDecoded(key: string, decoded: DecodedSamples): void {
  takeDecoded(key)
  const length = decoded.channels.reduce((sum, { pcm }) => sum + pcm.length, 0)
  const expiry = setTimeout(() => takeDecoded(key), EXPIRY_MS).unref()
  cacheEntries.set(key, { decoded, characters: length, expiry })
  characters += length
  for (const oldest of cacheEntries.keys()) {
    if (characters <= MAX_CHARACTERS) break
    takeDecoded(oldest)
  }
}

/** Returns and removes the samples under a key; undefined if they are not kept. */
export function takeDecoded(key: string): DecodedSamples | undefined {
  const cacheEntry = cacheEntries.get(key)
  if (!cacheEntry) return undefined
  clearTimeout(cacheEntry.expiry)
  cacheEntries.delete(key)
  characters -= cacheEntry.characters
  return cacheEntry.decoded
}

/** Writes samples to `folder` as a decoder does: one file per channel, synced to disk. */
export async function writeDecoded(
  { samples, declaredSeconds, unreadSeconds, unreadTracks, channels }: DecodedSamples,
  folder: string,
): Promise<DecodedMedia> {
  await mkdir(folder, { recursive: true })
  const written = await Promise.all(
    channels.map(async ({ pcm, sameAs }, channel): Promise<DecodedChannel> => {
      const path = join(folder, channelFile(channel))
      await using file = await open(path, 'w')
      await file.writeFile(Buffer.from(pcm, 'base64'))
      await file.sync()
      return { channel, path, samples, sameAs }
    }),
  )
  return {
    duration: samples / SAMPLE_RATE,
    statedSeconds: declaredSeconds,
    unreadSeconds,
    unreadTracks,
    channels: written,
  }
}
