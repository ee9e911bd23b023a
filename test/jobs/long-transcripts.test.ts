/** Three hours of speech for a language model with a small context: what leaves the server fits. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openLanguageServices } from '../../src/app/language-services.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { serviceAddOns } from '../../src/text/service-add-ons/service-add-ons.ts'
import type { Transcript, Utterance } from '../../src/transcript/transcript.ts'
import { type ChatCall, startChatProvider } from '../support/llm/chat-provider.ts'

/** The smallest context that can be configured. */
const CONTEXT = 1024
const TEXT = 'We talk about the garden and the budget of year 1984 with Lena Smith once more.'

/** Three hours by two people, an utterance every six seconds, and one that goes on for minutes. */
function talk(): Transcript {
  const utterances = Array.from({ length: 1800 }, (_, i): Utterance => {
    const text = i === 900 ? `${TEXT} `.repeat(80).trim() : TEXT
    const words = text.split(' ').map((word, n) => {
      const start = i * 6 + n * 0.3
      return { text: word, start, end: start + 0.3, confidence: 0.9 }
    })
    return { channel: i % 2, language: 'en', words }
  })
  return { utterances }
}

/** Answers as asked for: a short text, or the JSON of the schema. */
function respond({ messages, response_format }: ChatCall): string {
  const { content } = messages[1]!
  const { json_schema } = (response_format ?? {}) as { json_schema?: { name: string } }
  switch (json_schema?.name) {
    case 'translation': {
      const { translate } = JSON.parse(content) as { translate: string[] }
      return JSON.stringify({ translations: translate })
    }
    case 'moderation':
      return '{"flags":[{"sentence":1,"category":"threat"}]}'
    case 'extraction':
      return '{"year":["1984"]}'
    case 'chapter':
      return '{"headline":"Garden","gist":"Plants.","summary":"Plants.","keywords":["garden"]}'
    default:
      return 'They talk about “the garden”.'
  }
}

const params = {
  translation_config: { target_languages: ['de'], context: 'A talk.', model: 'enhanced' },
  audio_to_llm_config: { prompts: ['What do they talk about?', 'When?'] },
  structured_data_extraction_config: { classes: ['year'] },
  summarization_config: { type: 'bullet_points' },
}

async function open(t: TestContext) {
  const provider = await startChatProvider(respond)
  const config = readConfig({
    STENO_LLM_URL: provider.url,
    STENO_LLM_MODEL: 'tiny',
    STENO_LLM_CONTEXT_TOKENS: String(CONTEXT),
  })
  const services = await openLanguageServices(config, {
    log: createLog('silent'),
    metrics: createMetrics(),
    speech: { translatedLanguages: [], translate: assert.fail },
    db: {} as never,
  })
  t.after(async () => {
    await services.close()
    provider.close()
  })
  return { services, calls: provider.calls }
}

/** Three bytes to a token, which is more than English has, and the longest answer. */
function tokensOf({ messages, max_tokens }: ChatCall): number {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
  return Math.ceil(bytes / 3) + max_tokens
}

for (const addOn of serviceAddOns) {
  test(`three hours of speech fit into ${CONTEXT} tokens: ${addOn.name}`, async (t) => {
    const { services, calls } = await open(t)
    const transcript = talk()
    const { signal } = new AbortController()
    const memoize = <T>(_part: object, make: () => Promise<T>) => make()
    const options = { account: 'a', job: 'j', signal, memoize }
    const requests = addOn.prepare(transcript, params)
    const responses = await Promise.all(requests.map((one) => services.call(one, options)))
    for (const call of calls) assert.ok(tokensOf(call) <= CONTEXT, `${tokensOf(call)}`)
    for (const one of responses) assert.ok(!('error' in (one as object)), JSON.stringify(one))
    assert.equal(addOn.merge(transcript, params, responses, { format: 'string' }).isEmpty, false)
    // All of the speech was read.
    const read = calls.map(({ messages }) => messages[1]!.content).join('\n')
    assert.ok(read.length > TEXT.length * 1800, `${read.length}`)
  })
}
