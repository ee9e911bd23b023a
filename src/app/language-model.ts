import { createSemaphore } from '../audio/semaphore.ts'
import type { Config } from '../config.ts'
import type { ServiceCallOptions, Services } from '../jobs/service-add-ons.ts'
import type { AskOptions } from '../llm/ask.ts'
import { type ChatModel, createChatClient, LlmFailure } from '../llm/chat-client.ts'
import { answerPrompt, extractData, type SummaryStyle, summarizeTranscript } from '../llm/tasks.ts'
import { translateTexts } from '../llm/translate.ts'
import type { Log } from '../log.ts'
import { createServiceClient } from '../net/service-client.ts'
import type { ServiceRequest } from '../text/service-add-on.ts'
import { roundTo } from '../transcript/rounding.ts'

/** Waiting requests of one account; a job has four at a time. */
const MAX_WAITING = 10_000

/** The services of a server with a language model, to be closed; undefined when there is none. */
export function languageModelServices(
  { llm }: Pick<Config, 'llm'>,
  log: Log,
): (Services & { close(): Promise<void> }) | undefined {
  if (!llm) return undefined
  const { url, apiKey } = llm
  const onRetry = (problem: string) => log.warn({ problem }, 'language model failed, asking again')
  const client = createServiceClient({ url, apiKey, onRetry })
  return createServices(createChatClient({ ...llm, client }), llm)
}

/** Serves the requests of add-ons from a model; a few at a time, the accounts in turn. */
function createServices(model: ChatModel, { concurrency }: { concurrency: number }) {
  const limits = { total: concurrency, perAccount: concurrency, maxWaiting: MAX_WAITING }
  const inTurn = createSemaphore(limits)
  return {
    async call(request: ServiceRequest, options: ServiceCallOptions): Promise<unknown> {
      const { account, signal, remember } = options
      const waiting: ChatModel = {
        ...model,
        complete: (one) => inTurn(() => model.complete(one), { account, signal }),
      }
      const startedAt = performance.now()
      try {
        const answer = await perform(request, { model: waiting, remember, signal })
        return { ...answer, seconds: roundTo((performance.now() - startedAt) / 1000, 6) }
      } catch (error) {
        // A failed request fails its prompt or target only.
        if (!(error instanceof LlmFailure)) throw error
        const { status: status_code, message } = error
        return { error: { status_code, exception: 'ServiceFailed', message } }
      }
    },
    close: () => model.close(),
  }
}

/** The fields of the requests in `text/services/`, by their task. */
type Fields = {
  prompt: { prompt: string; text: string }
  summary: { style: SummaryStyle; text: string }
  extraction: { classes: string[]; text: string }
  translation: {
    target: string
    texts: string[]
    context: string
    before: string[]
    informal: boolean
  }
}

function perform(request: ServiceRequest, options: AskOptions): Promise<object> {
  const fields = <T extends keyof Fields>() => request as unknown as Fields[T]
  switch (request.task as keyof Fields) {
    case 'prompt': {
      const { prompt, text: transcript } = fields<'prompt'>()
      return answerPrompt({ prompt, transcript }, options)
    }
    case 'summary': {
      const { style, text: transcript } = fields<'summary'>()
      return summarizeTranscript({ style, transcript }, options)
    }
    case 'extraction': {
      const { classes, text: transcript } = fields<'extraction'>()
      return extractData({ classes, transcript }, options)
    }
    case 'translation':
      return translateTexts(fields<'translation'>(), options)
    default:
      throw new TypeError('no such task of a language model')
  }
}
