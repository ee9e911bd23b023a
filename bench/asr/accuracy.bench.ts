/**
 * Measures word errors, errors of word times and invented words of the recognizer per group of a
 * corpus, with the real-time factor of the whole run and the reliability of confidences.
 */
import { createSpeechEngine } from '../../src/asr/create-speech-engine.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import type { Word } from '../../src/transcript/transcript.ts'
import { wordErrors } from '../../test/support/asr/word-errors.ts'
import { decodeCorpus, type Recording, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'
import { reliability, type ScoredWord } from './reliability.ts'
import { scoreWords } from './score-words.ts'
import { transcribe } from './transcribe.ts'

type Group = {
  errors: number
  words: number
  /** Words in recordings without speech; null if the group has no such recordings. */
  invented: number | null
  startErrors: number[]
  uncovered: number
}

const { models, workers } = readConfig({})
const { name, recordings } = await readCorpus()
const { decoded, dispose } = await decodeCorpus(recordings)
const engine = createSpeechEngine({ folder: models.folder, workers, log: createLog('warn') })
await engine.checkReady({ signal: new AbortController().signal })

const groups = new Map<string, Group>()
const scored: ScoredWord[] = []
let audio = 0
const started = performance.now()
for (const [recording, pcm] of decoded) {
  audio += pcm.samples / 16_000
  const { words, uncovered } = await transcribe(engine, pcm)
  const group = groups.get(recording.group) ?? {
    errors: 0,
    words: 0,
    invented: null,
    startErrors: [],
    uncovered: 0,
  }
  groups.set(recording.group, group)
  group.uncovered += uncovered
  note(recording, words, group)
}
const busy = (performance.now() - started) / 1000
await engine.close()
await dispose()

for (const [group, found] of groups)
  report({ bench: 'accuracy', corpus: name, group, ...summarize(found) })
report({ bench: 'confidence', corpus: name, ...reliability(scored) })
report({
  bench: 'accuracy',
  corpus: name,
  group: 'all',
  seconds: audio,
  workers,
  realTimeFactor: busy / audio,
})

function note(recording: Recording, words: readonly Word[], group: Group): void {
  if (recording.transcript === null) return
  if (recording.transcript === '') {
    group.invented = (group.invented ?? 0) + words.length
    return
  }
  const { errors, referenceWords } = wordErrors(
    recording.transcript,
    words.map((word) => word.text).join(' '),
  )
  group.errors += errors
  group.words += referenceWords
  const { right, startErrors } = scoreWords(recording, words)
  group.startErrors.push(...startErrors)
  for (const [{ confidence }, ok] of right) scored.push({ confidence, right: ok })
}

function summarize({ errors, words, invented, startErrors, uncovered }: Group) {
  const sorted = startErrors.toSorted((a, b) => a - b)
  const mean = sorted.reduce((sum, error) => sum + error, 0) / Math.max(1, sorted.length)
  return {
    words,
    wer: words > 0 ? errors / words : null,
    inventedWords: invented,
    startErrorMean: sorted.length > 0 ? mean : null,
    startErrorP90: sorted[Math.floor(sorted.length * 0.9)] ?? null,
    uncoveredSeconds: uncovered,
  }
}
