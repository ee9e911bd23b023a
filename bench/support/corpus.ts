import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { PcmFile } from '../../src/asr/speech-engine.ts'
import { decodeMedia } from '../../src/audio/decode-media.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A word of a reference, with its times in seconds. */
export type ReferenceWord = { word: string; start: number; end: number }

/**
 * One recording of a corpus. `transcript` is null if the words are not known, '' if there are none.
 */
export type Recording = {
  id: string
  file: string
  group: string
  /** Null if there is no speech. */
  language: string | null
  transcript: string | null
  words: ReferenceWord[] | null
  license: string | null
  /** The recordings that were joined, with their times in seconds; null for a single one. */
  parts: { source: string; start: number; end: number }[] | null
}

type ManifestItem = {
  id: string
  file: string
  group: string
  kind?: string
  language: string | null
  transcript: string | null
  channels?: number | null
  expect?: string
  license?: string
  utterances?: { source?: string; start: number; end: number }[]
}

/**
 * Reads the corpus named by `--corpus DIR`, else the recordings of the tests. A corpus is a folder
 * with `manifest.json` (`items`: id, file, group, language, transcript) and, for word times,
 * `refs/words.json` (id → words). English recordings of one channel (with `everyLanguage` those in
 * other languages too) and those without speech are taken; generated voices and damaged files are
 * not.
 */
export async function readCorpus({
  everyLanguage = false,
} = {}): Promise<{ name: string; recordings: Recording[] }> {
  const { values } = parseArgs({ strict: false, options: { corpus: { type: 'string' } } })
  const { corpus } = values as { corpus?: string }
  const folder = resolve(corpus ?? join(import.meta.dirname, '../../test/fixtures'))
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    items: ManifestItem[]
  }
  const wordsFile = join(folder, 'refs/words.json')
  const words = existsSync(wordsFile)
    ? (JSON.parse(await readFile(wordsFile, 'utf8')) as Record<string, ReferenceWord[]>)
    : {}
  const usable = manifest.items.filter((item) => {
    return (
      (everyLanguage || item.language === 'en' || item.transcript === '') &&
      (item.channels ?? 1) === 1 &&
      !item.expect
    )
  })
  const recordings = usable
    .filter((item) => item.kind !== 'synthetic' && item.kind !== 'broken')
    .map(({ id, file, utterances, ...item }) => {
      const { group, language, transcript, license = null } = item
      const parts = utterances?.flatMap(({ source, start, end }) => {
        return source === undefined ? [] : [{ source, start, end }]
      })
      return {
        id,
        file: join(folder, file),
        group,
        language,
        transcript,
        words: words[id] ?? null,
        license,
        parts: parts ?? null,
      }
    })
  return { name: corpus ? 'corpus' : 'fixtures', recordings }
}

/** Decodes recordings into a temporary folder, which `dispose` removes. */
export async function decodeCorpus(recordings: readonly Recording[]) {
  const folder = await temporaryFolder()
  const signal = new AbortController().signal
  const decoded = new Map<Recording, PcmFile>()
  for (const recording of recordings) {
    const to = join(folder, recording.id)
    const options = { nameHint: recording.file, signal, maxSeconds: 86_400 }
    const media = await decodeMedia(recording.file, to, options).catch((error: Error) => {
      console.error(`skipping ${recording.id}: ${error.message}`)
    })
    const channel = media?.channels[0]
    if (channel) decoded.set(recording, { path: channel.path, samples: channel.samples })
  }
  return { decoded, dispose: () => rm(folder, { recursive: true, force: true }) }
}
