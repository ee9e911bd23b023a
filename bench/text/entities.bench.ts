/**
 * Entities: precision and recall over the labeled sentences, by type for each file, and the time
 * for an hour of speech (9,000 words of these sentences). Nothing was tuned to the frozen files.
 */
import { findEntities } from '../../src/text/entities/find-entities.ts'
import { scoreFinder, totals } from '../../test/support/text/labeled-entities/score.ts'
import { labeledSentences } from '../../test/support/text/labeled-entities/sentences.ts'
import { report } from '../support/report.ts'

for (const file of ['frozen', 'tuning', 'calls-frozen', 'calls-tuning'] as const) {
  const sentences = labeledSentences(file)
  const counts = scoreFinder(findEntities, sentences)
  const types = [...counts].sort(([a], [b]) => (a < b ? -1 : 1))
  const byType = Object.fromEntries(
    types.map(([type, { right, found, labeled }]) => [type, `${right}/${found}/${labeled}`]),
  )
  const { precision, recall } = totals(counts)
  report({
    bench: 'text/entities',
    file,
    sentences: sentences.length,
    precision,
    recall,
    'right/found/labeled': byType,
  })
}

const WORDS = 9000
const lines = (['frozen', 'tuning'] as const).flatMap(labeledSentences).map(({ text }) => text)
const words = lines.join(' ').split(' ')
const hour = Array.from({ length: WORDS }, (_, i) => words[i % words.length]).join(' ')
const started = performance.now()
const found = findEntities({ text: hour })
const seconds = (performance.now() - started) / 1000
report({ bench: 'text/entities', words: WORDS, seconds, entities: found.length })
