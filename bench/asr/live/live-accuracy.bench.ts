/**
 * Measures the word errors of live sessions, without and with denoising, and those of recordings,
 * per group of a corpus; and the time of a final by the length of its utterance.
 */
import { createSpeechEngine } from '../../../src/asr/create-speech-engine.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/observability/log.ts'
import type { Word } from '../../../src/transcript/transcript.ts'
import { wordErrors } from '../../../test/support/asr/word-errors.ts'
import { decodeCorpus, readCorpus } from '../../support/corpus.ts'
import { report } from '../../support/report.ts'
import { transcribe } from '../transcribe.ts'
import { type LiveRecognition, transcribeLive } from './live-transcribe.ts'

const { models, workers } = readConfig({})
const { name, recordings } = await readCorpus()
const { decoded, dispose } = await decodeCorpus(recordings)
const log = createLog('warn')
const live = { partialInterval: 0.3 }
const engine = createSpeechEngine({ folder: models.folder, workers, log, live })
await engine.checkReady({ signal: new AbortController().signal })

type Group = { words: number; live: number; cleaned: number; recorded: number; invented: number }
const groups = new Map<string, Group>()
const finals: LiveRecognition['finals'] = []
for (const [{ group, transcript }, pcm] of decoded) {
  if (transcript === null) continue
  const sums = groups.get(group) ?? { words: 0, live: 0, cleaned: 0, recorded: 0, invented: 0 }
  groups.set(group, sums)
  const recognized = await transcribeLive(engine.live!, pcm)
  const cleaned = await transcribeLive(engine.live!, pcm, { isDenoised: true })
  finals.push(...recognized.finals)
  if (transcript === '') {
    sums.invented += recognized.words.length + cleaned.words.length
    continue
  }
  const recorded = await transcribe(engine, pcm)
  const { errors, referenceWords } = wordErrors(transcript, textOf(recognized.words))
  sums.words += referenceWords
  sums.live += errors
  sums.cleaned += wordErrors(transcript, textOf(cleaned.words)).errors
  sums.recorded += wordErrors(transcript, textOf(recorded.words)).errors
}
const { capacity } = engine.live!
await engine.close()
await dispose()

for (const [group, { words, invented, ...errors }] of groups) {
  const wer = (count: number) => (words > 0 ? count / words : null)
  const [recorded, live, cleaned] = [errors.recorded, errors.live, errors.cleaned].map(wer)
  report({ bench: 'live accuracy', corpus: name, group, words, recorded, live, cleaned, invented })
}
for (let seconds = 0; seconds < 6; seconds++) {
  const took = finals.filter((final) => Math.floor(final.seconds) === seconds)
  const sorted = took.map((final) => final.took).sort((a, b) => a - b)
  const [median, p95] = [0.5, 0.95].map(
    (share) => sorted[Math.floor(sorted.length * share)] ?? null,
  )
  report({ bench: 'live finals', seconds, utterances: sorted.length, median, p95 })
}
report({ bench: 'live capacity', workers, capacity })

function textOf(words: readonly Word[]): string {
  return words.map((word) => word.text).join(' ')
}
