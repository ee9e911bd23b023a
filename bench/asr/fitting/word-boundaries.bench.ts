/**
 * Trains the network that places the starts of words (decision 0122) on recordings in the public
 * domain or under CC BY: prints the errors for readers that it was not trained with, and writes
 * the network trained on all of them, for src/asr/recognition/word-times/boundary-network.json.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BoundaryNetwork,
  medianOffset,
  scoreCandidates,
} from '../../../src/asr/recognition/word-times/boundary-network.ts'
import { mean } from '../../../src/numbers.ts'
import { createRandom } from '../../../test/support/random/random.ts'
import { decodeCorpus, readCorpus } from '../../support/corpus.ts'
import { report } from '../../support/report.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Example, makeExamples } from './boundary-examples.ts'
import { trainBoundaryNetwork } from './train-boundary-network.ts'

const GROUPS = new Set(['read', 'conversation'])
const FREE = /^(CC BY 4\.0|Public domain)/
const FOLDS = 3
/** Digits of a stored weight. */
const DIGITS = 4

const { name, recordings } = await readCorpus()
const usable = recordings.filter(({ group, words, license }) => {
  return GROUPS.has(group) && words && FREE.test(license ?? '')
})
const { decoded, dispose } = await decodeCorpus(usable)
const random = createRandom(1)
const examples = [...decoded].flatMap(([recording, pcm]) => makeExamples(recording, pcm, random))
await dispose()

const readers = [...new Set(examples.map(({ reader }) => reader))].sort()
for (let fold = 0; fold < FOLDS; fold++) {
  const held = new Set(readers.filter((_, i) => i % FOLDS === fold))
  const network = trainBoundaryNetwork(examples.filter(({ reader }) => !held.has(reader)))
  const others = examples.filter(({ reader }) => held.has(reader))
  const readersHeld = [...held].join(' ')
  report({
    bench: 'word-boundaries',
    corpus: name,
    readers: readersHeld,
    ...errors(network, others),
  })
}
const all = trainBoundaryNetwork(examples)
const file = join(await temporaryFolder(), 'boundary-network.json')
await writeFile(file, `${JSON.stringify(all, rounded)}\n`)
report({ bench: 'word-boundaries', corpus: name, examples: examples.length, file })

/** Returns the mean errors of starts in seconds, as they seem and as the network places them. */
function errors(network: BoundaryNetwork, examples: readonly Example[]) {
  const after = examples.map(({ inputs, sounds, offset }) => {
    return Math.abs(offset - medianOffset(scoreCandidates(network, inputs, sounds).probabilities))
  })
  const before = examples.map(({ offset }) => Math.abs(offset))
  return { words: examples.length, before: mean(before), after: mean(after) }
}

/** Writes arrays of floats as lists of rounded numbers. */
function rounded(_key: string, value: unknown): unknown {
  if (!(value instanceof Float32Array)) return value
  return Array.from(value, (number) => Number(number.toFixed(DIGITS)))
}
