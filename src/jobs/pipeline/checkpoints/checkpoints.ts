import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import type { Segment } from '../../../asr/engines/recognizer.ts'
import type {
  Batch,
  ChannelToRecognize,
  CheckpointEmbeddings,
  CheckpointLanguages,
  CheckpointSpeech,
  LanguageSpan,
  RecognizedSegment,
} from '../../../asr/speech-engine.ts'
import type { DecodedMedia } from '../../../audio/decoder/decoder-messages.ts'
import { throwStorageError } from '../../../storage/data-folder/storage-error.ts'
import { syncFile, syncFolder, writeDurably } from '../../../storage/objects/disk/durable-file.ts'
import { ignoreMissingFile } from '../../../storage/objects/disk/missing-file.ts'
import { type CheckpointFile, hashOfJson, openCheckpointFile } from './checkpoint-file.ts'
import { openRecognitionCheckpoint } from './recognition-checkpoint.ts'

/**
 * The output of the expensive stages of a job, stored in a folder of the job so that the next
 * attempt resumes where the last one was killed: `decoded.json` and `pcm/` (the samples),
 * `channels.json` and `channels/` (the groups of several channels, and their audio),
 * `speech-N-S.json` (the speech segments of channel N, of S seconds at most), `languages.jsonl`
 * (one line per part whose languages are identified), `recognized.jsonl` (one line per recognized
 * batch), `embeddings-N-P-M` (the speaker embeddings of part P of channel N, computed by model M),
 * `answers.jsonl` (one line per response of a service). A checkpoint is reused only if all of it
 * has reached the disk.
 */
export type Checkpoints = AsyncDisposable & {
  /** Decodes the recording with `work` into `folder`, or returns the earlier outcome. */
  decode(work: (folder: string) => Promise<DecodedMedia>): Promise<DecodedMedia>
  /**
   * Groups the channels with `work`, which writes their audio to `folder`, or returns the earlier
   * outcome.
   */
  channelGroups(
    work: (folder: string) => Promise<ChannelToRecognize[]>,
  ): Promise<ChannelToRecognize[]>
  checkpointSpeech: CheckpointSpeech
  checkpointLanguages: CheckpointLanguages
  /** Returns the segments recognized in a batch, by this attempt or an earlier one. */
  findRecognized(batch: Batch): RecognizedSegment[] | undefined
  saveRecognized(batch: Batch, recognized: RecognizedSegment[]): Promise<void>
  /** Computes speaker embeddings, or returns those of the same model that exist already. */
  checkpointEmbeddings: CheckpointEmbeddings
  /** Opens the responses of services; the caller closes them. */
  openResponses(): Promise<CheckpointFile<unknown>>
}

/** Opens the checkpoint folder of a job, which may hold checkpoints of an earlier attempt. */
export async function openCheckpoints(workFolder: string, jobId: string): Promise<Checkpoints> {
  const folder = join(workFolder, jobId)
  await mkdir(folder, { recursive: true }).catch(throwStorageError)
  const recognized = await openRecognitionCheckpoint(join(folder, 'recognized.jsonl')).catch(
    throwStorageError,
  )
  const languages = await openCheckpointFile<LanguageSpan[][]>(
    join(folder, 'languages.jsonl'),
    'stretches',
  ).catch(throwStorageError)
  return {
    decode: (work) => decodeOnce(folder, work).catch(throwStorageError),
    channelGroups: (work) => groupOnce(folder, work).catch(throwStorageError),
    checkpointSpeech: ({ channel, maxSeconds }, work) =>
      findSpeechOnce(join(folder, `speech-${channel}-${maxSeconds}.json`), work).catch(
        throwStorageError,
      ),
    checkpointLanguages: ({ path: _, ...part }, work) => {
      return identifyOnce(languages, hashOfJson(part), work).catch(throwStorageError)
    },
    findRecognized: recognized.find,
    saveRecognized: (batch, segments) => {
      return recognized.append(batch, segments).catch(throwStorageError)
    },
    checkpointEmbeddings: ({ channel, part, model }, work) => {
      const file = join(folder, `embeddings-${channel}-${part}-${model}`)
      return embedSpeakersOnce(file, work).catch(throwStorageError)
    },
    openResponses: () => openResponses(join(folder, 'answers.jsonl')).catch(throwStorageError),
    async [Symbol.asyncDispose]() {
      await Promise.all([recognized.close(), languages.close()])
    },
  }
}

/** Removes the checkpoints of a job that has ended. */
export async function removeCheckpoints(workFolder: string, jobId: string): Promise<void> {
  await rm(join(workFolder, jobId), { recursive: true, force: true, maxRetries: 3 })
}

/**
 * Removes the checkpoint folders of all jobs except the active ones, and the jobs in `running`. The
 * active jobs are looked up after the folders are listed, so that the folder of a job that another
 * process starts meanwhile is not among them.
 */
export async function removeStaleCheckpoints(
  workFolder: string,
  findActive: () => Promise<readonly string[]>,
  { running = [] }: { running?: readonly string[] } = {},
): Promise<void> {
  await mkdir(workFolder, { recursive: true })
  const names = (await readdir(workFolder)).filter((name) => !running.includes(name))
  if (names.length === 0) return
  const keep = new Set(await findActive())
  for (const name of names) {
    if (!keep.has(name)) await removeCheckpoints(workFolder, name)
  }
}

async function decodeOnce(
  folder: string,
  work: (folder: string) => Promise<DecodedMedia>,
): Promise<DecodedMedia> {
  const summary = join(folder, 'decoded.json')
  const pcm = join(folder, 'pcm')
  const earlier = await readJsonCheckpoint<DecodedMedia>(summary)
  if (earlier) {
    const channels = earlier.channels.map((stored) => ({ ...stored, path: join(pcm, stored.path) }))
    if (await allComplete(channels)) return { ...earlier, channels }
  }
  await rm(pcm, { recursive: true, force: true })
  await mkdir(pcm)
  const decoded = await work(pcm)
  for (const { path, sameAs } of decoded.channels) if (sameAs === null) await syncFile(path)
  await syncFolder(pcm)
  // The checkpoint has names instead of paths: the data folder may move before the next attempt.
  const channels = decoded.channels.map((file) => ({ ...file, path: basename(file.path) }))
  await writeDurably(summary, JSON.stringify({ ...decoded, channels }))
  return decoded
}

async function groupOnce(
  folder: string,
  work: (folder: string) => Promise<ChannelToRecognize[]>,
): Promise<ChannelToRecognize[]> {
  const summary = join(folder, 'channels.json')
  const earlier = await readJsonCheckpoint<ChannelToRecognize[]>(summary)
  if (earlier) {
    const channels = earlier.map((stored) => ({ ...stored, path: join(folder, stored.path) }))
    if (await allComplete(channels.map((file) => ({ ...file, sameAs: null })))) return channels
  }
  const files = await work(join(folder, 'channels'))
  const channels = files.map((file) => ({ ...file, path: relative(folder, file.path) }))
  await writeDurably(summary, JSON.stringify(channels))
  return files
}

async function allComplete(channels: DecodedMedia['channels']): Promise<boolean> {
  for (const { path, samples, sameAs } of channels) {
    if (sameAs !== null) continue
    const size = await stat(path).then((file) => file.size, ignoreMissingFile)
    if (size !== samples * 2) return false
  }
  return true
}

async function findSpeechOnce(file: string, work: () => Promise<Segment[]>): Promise<Segment[]> {
  const earlier = await readJsonCheckpoint<Segment[]>(file)
  if (earlier) return earlier
  const segments = await work()
  await writeDurably(file, JSON.stringify(segments))
  return segments
}

async function identifyOnce(
  languages: CheckpointFile<LanguageSpan[][]>,
  key: string,
  work: () => Promise<LanguageSpan[][]>,
): Promise<LanguageSpan[][]> {
  const earlier = languages.find(key)
  if (earlier) return earlier
  const spans = await work()
  await languages.append(key, spans)
  return spans
}

async function embedSpeakersOnce(
  file: string,
  work: (file: string) => Promise<void>,
): Promise<string> {
  const earlier = await stat(file).catch(ignoreMissingFile)
  if (!earlier) await work(file)
  return file
}

async function openResponses(file: string): Promise<CheckpointFile<unknown>> {
  const responses = await openCheckpointFile<unknown>(file, 'answer')
  return {
    ...responses,
    append: (key, response) => responses.append(key, response).catch(throwStorageError),
  }
}

async function readJsonCheckpoint<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch(ignoreMissingFile)
  return text === undefined ? undefined : (JSON.parse(text) as T)
}
