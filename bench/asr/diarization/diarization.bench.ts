/**
 * Measures diarization errors per group of a corpus, with a known and an unknown number of
 * speakers, on the recognized words; and the cost of diarization, compared with recognition and by
 * the length of recordings.
 */
import { rm } from 'node:fs/promises'
import { createSpeechEngine } from '../../../src/asr/create-speech-engine.ts'
import { readRecognitionRequest } from '../../../src/asr/model-selection/recognition-request.ts'
import { readSamples } from '../../../src/asr/segmentation/read-samples.ts'
import {
  type ChannelWindows,
  diarizeByEmbeddings,
} from '../../../src/asr/speakers/diarize-by-embeddings.ts'
import { openXvectorEmbedder } from '../../../src/asr/speakers/embedding/embedders/xvector-embedder.ts'
import { xvectorModelPath } from '../../../src/asr/speakers/embedding/embedders/xvector-model.ts'
import { diarizationGrid, speechRegions } from '../../../src/asr/speakers/embedding/regions.ts'
import { decodeMedia } from '../../../src/audio/decode-media.ts'
import { readConfig } from '../../../src/config/config.ts'
import { assembleTranscript } from '../../../src/jobs/pipeline/assemble-transcript.ts'
import { createLog } from '../../../src/observability/log.ts'
import type { Transcript } from '../../../src/transcript/transcript.ts'
import { report } from '../../support/report.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Conversation, readConversations } from './diarization-corpus.ts'
import { diarizationError, type SpeakerTurn, speakerWordErrors } from './diarization-error.ts'

/** The recognized words and the embeddings of one recording, before clustering. */
type Recognized = { transcript: Transcript; windows: ChannelWindows[]; seconds: number }

/** Sums over the recordings of a group. */
type Sums = Record<
  | 'recordings'
  | 'speech'
  | 'missed'
  | 'invented'
  | 'confused'
  | 'missedOverlap'
  | 'strictSpeech'
  | 'strictErrors'
  | 'countsRight'
  | 'countErrors'
  | 'words'
  | 'wordErrors',
  number
>

const signal = new AbortController().signal
const { models, workers } = readConfig({})
const engine = createSpeechEngine({ folder: models.folder, workers, log: createLog('warn') })
await engine.checkReady({ signal })
const embedder = await openXvectorEmbedder({ modelPath: xvectorModelPath })
await using folder = await disposableFolder()
const groups = new Map<string, Sums>()
const busy = { recognition: 0, embedding: 0, clustering: 0, audio: 0 }
let longest: Recognized | undefined

for (const conversation of await readConversations()) {
  const recognized = await run(conversation)
  if (recognized.seconds > (longest?.seconds ?? 0)) longest = recognized
  for (const [mode, exact] of [
    ['known', countIn(conversation.turns)],
    ['automatic', 0],
  ] as const) {
    const started = performance.now()
    const spoken = diarizeByEmbeddings(recognized.transcript, {
      embeddings: recognized.windows,
      counts: { exact },
    })
    if (mode === 'automatic') busy.clustering += (performance.now() - started) / 1000
    const key = `${conversation.group}/${mode}`
    const sums = groups.get(key) ?? emptySums()
    groups.set(key, sums)
    note(sums, conversation, spoken)
  }
}
await engine.close()
await embedder.close()

for (const [key, sums] of groups) {
  const [group, speakers] = key.split('/')
  report({ bench: 'diarization', group, speakers, ...summarize(sums) })
}
report({
  bench: 'diarization',
  group: 'all',
  seconds: busy.audio,
  workers,
  recognitionRealTimeFactor: busy.recognition / busy.audio,
  embeddingRealTimeFactor: busy.embedding / busy.audio,
  clusteringRealTimeFactor: busy.clustering / busy.audio,
})
if (longest) for (const minutes of [10, 60, 180]) reportGrowth(longest, minutes)

/** Recognizes a recording as a job does, then embeds its speakers, one channel after the other. */
async function run({ id, file }: Conversation): Promise<Recognized> {
  const media = await decodeMedia(file, `${folder.path}/${id}`, {
    nameHint: file,
    signal,
    maxSeconds: 86_400,
  })
  const channels = media.channels.filter(({ sameAs }) => sameAs === null)
  const started = performance.now()
  const { finals } = engine.selectModels(readRecognitionRequest({}))
  const batches = await Promise.all(
    (await engine.planRecognition(channels, finals, { signal })).map(async (batch) => {
      return { channel: batch.channel, segments: await engine.runBatch(batch, { signal }) }
    }),
  )
  const transcript = assembleTranscript(batches)
  const recognized = performance.now()
  const windows: ChannelWindows[] = []
  for (const { channel, path, samples } of channels) {
    const words = transcript.utterances
      .filter((utterance) => utterance.channel === channel)
      .flatMap((utterance) => utterance.words)
    const regions = speechRegions(words, samples)
    const pcm = readSamples(path, 0, samples)
    windows.push({
      channel,
      windows: await embedder.embed(pcm, regions, { signal, grids: [diarizationGrid] }),
    })
  }
  busy.recognition += (recognized - started) / 1000
  busy.embedding += (performance.now() - recognized) / 1000
  busy.audio += media.duration
  return { transcript, windows, seconds: media.duration }
}

function countIn(turns: readonly SpeakerTurn[]): number {
  return new Set(turns.map(({ speaker }) => speaker)).size
}

function emptySums(): Sums {
  return {
    recordings: 0,
    speech: 0,
    missed: 0,
    invented: 0,
    confused: 0,
    missedOverlap: 0,
    strictSpeech: 0,
    strictErrors: 0,
    countsRight: 0,
    countErrors: 0,
    words: 0,
    wordErrors: 0,
  }
}

function note(
  sums: Sums,
  { turns, reference }: Conversation,
  spoken: ReturnType<typeof diarizeByEmbeddings>,
): void {
  const found = joinWords(spoken)
  const lenient = diarizationError(turns, found, { collar: 0.25 })
  const strict = diarizationError(turns, found, { collar: 0 })
  for (const key of ['speech', 'missed', 'invented', 'confused', 'missedOverlap'] as const)
    sums[key] += lenient[key]
  sums.strictSpeech += strict.speech
  sums.strictErrors += strict.missed + strict.invented + strict.confused
  sums.recordings++
  const miscount = Math.abs(countIn(found) - countIn(turns))
  sums.countErrors += miscount
  if (miscount === 0) sums.countsRight++
  if (!reference) return
  const texts = new Map<string, string>()
  for (const { speaker, words } of spoken) {
    const text = words.map((word) => word.text).join(' ')
    texts.set(String(speaker), `${texts.get(String(speaker)) ?? ''} ${text}`)
  }
  const { errors, words } = speakerWordErrors(reference, texts)
  sums.words += words
  sums.wordErrors += errors
}

/**
 * Builds turns from the times of words; pauses of a speaker below half a second belong to the turn.
 */
function joinWords(spoken: ReturnType<typeof diarizeByEmbeddings>): SpeakerTurn[] {
  const turns: SpeakerTurn[] = []
  const last = new Map<number, SpeakerTurn>()
  for (const { speaker, words } of spoken) {
    for (const { start, end } of words) {
      const turn = last.get(speaker)
      if (turn && start - turn.end < 0.5) turn.end = Math.max(turn.end, end)
      else {
        const turn = { start, end, speaker: String(speaker) }
        turns.push(turn)
        last.set(speaker, turn)
      }
    }
  }
  return turns
}

function summarize(sums: Sums) {
  return {
    recordings: sums.recordings,
    der: (sums.missed + sums.invented + sums.confused) / sums.speech,
    derWithoutCollar: sums.strictErrors / sums.strictSpeech,
    confusion: sums.confused / sums.speech,
    missed: sums.missed / sums.speech,
    missedOverlap: sums.missedOverlap / sums.speech,
    invented: sums.invented / sums.speech,
    countsRight: sums.countsRight,
    meanCountError: sums.countErrors / sums.recordings,
    cpWer: sums.words > 0 ? sums.wordErrors / sums.words : null,
  }
}

/** Measures clustering in a recording that repeats the longest one. */
function reportGrowth({ transcript, windows, seconds }: Recognized, minutes: number): void {
  const times = Array.from({ length: Math.ceil((minutes * 60) / seconds) }, (_, i) => i * seconds)
  const utterances = times.flatMap((late) => {
    return transcript.utterances
      .map((utterance) => ({
        ...utterance,
        words: utterance.words.map((word) => ({
          ...word,
          start: word.start + late,
          end: word.end + late,
        })),
      }))
      .filter(({ words }) => words.at(-1)!.end < minutes * 60)
  })
  const longer = windows.map(({ channel, windows }) => {
    const repeated = times.flatMap((late) => {
      const shift = Math.round(late * 16_000)
      return windows.map((window) => ({
        ...window,
        start: window.start + shift,
        end: window.end + shift,
      }))
    })
    return { channel, windows: repeated.filter(({ end }) => end < minutes * 60 * 16_000) }
  })
  const started = performance.now()
  diarizeByEmbeddings({ utterances }, { embeddings: longer, counts: {} })
  report({
    bench: 'diarization',
    group: 'growth',
    minutes,
    windows: longer.reduce((sum, { windows }) => sum + windows.length, 0),
    clusteringSeconds: (performance.now() - started) / 1000,
  })
}

async function disposableFolder() {
  const path = await temporaryFolder()
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
