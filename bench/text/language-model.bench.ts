/**
 * Checks the responses of a language model to all kinds of tasks: prompts, extraction, summaries,
 * translations, moderation and names, over a small set in five languages. The model is that of the
 * settings (`STENO_LLM_URL` and others), or the small one of the tests. `--task` selects kinds of
 * tasks. Each failed check, and the count after each response, is a line on stderr.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findTestWeights } from '../../scripts/tests/test-tools/test-weights.ts'
import { openChatModel } from '../../src/app/language-model.ts'
import { readConfig } from '../../src/config/config.ts'
import type { ChatModel } from '../../src/language-services/llm/chat-client.ts'
import { createLog } from '../../src/observability/log.ts'
import { report } from '../support/report.ts'
import { evaluateModel } from './language-model-checks.ts'
import { readSet, selectTasks, TASKS } from './language-model-set.ts'

const { values } = parseArgs({ options: { task: { type: 'string', multiple: true } } })
const set = selectTasks(readSet(), values.task ?? TASKS)

const { folder, missing } = findTestWeights('smollm2-135m')
if (missing && !process.env.STENO_LLM_URL) {
  console.error(`Cannot judge a language model: STENO_LLM_URL is not set, and there are ${missing}`)
  process.exit(2)
}
const small = `embedded:${join(folder ?? '', 'model.gguf')}`
const config = readConfig({ STENO_LLM_URL: small, ...process.env })
const llm = config.llm!
const chat = openChatModel({ llm, models: config.models }, createLog('silent'))
const used = { requests: 0, promptTokens: 0, completionTokens: 0, cut: 0, failed: 0 }
const model: ChatModel = {
  ...chat,
  async complete(request) {
    used.requests++
    const response = await chat.complete(request).catch((error: unknown) => {
      used.failed++
      throw error
    })
    used.promptTokens += response.usage.prompt_tokens
    used.completionTokens += response.usage.completion_tokens
    used.cut += response.isCut ? 1 : 0
    return response
  },
}
const { signal } = new AbortController()
const memoize = <T>(_request: object, make: () => Promise<T>) => make()
const passed: Record<string, string> = {}
const counts: Record<string, [right: number, all: number]> = {}
const startedAt = performance.now()
for await (const one of evaluateModel(set, { model, memoize, signal })) {
  const count = counts[one.task] ?? [0, 0]
  counts[one.task] = count
  count[0] += one.checks - one.failed.length
  count[1] += one.checks
  passed[one.task] = count.join(' of ')
  if (one.failed.length > 0) console.error(JSON.stringify(one))
  console.error(`${one.task}: ${passed[one.task]} checks so far`)
}
await chat.close()
report({
  bench: 'text/language-model',
  model: (llm.embedded ?? llm.model).split('/').slice(-2).join('/'),
  contextTokens: llm.contextTokens,
  passed,
  ...used,
  seconds: (performance.now() - startedAt) / 1000,
})
