import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { AddOnError } from '../text/result/envelope.ts'
import type { ServiceRequest, Services } from '../text/service-add-on.ts'
import { serviceAddOns } from '../text/service-add-ons.ts'
import { openLanguageModel } from './language-model.ts'

/** The services of a server, to be closed. */
export type OpenServices = Services & { close(): Promise<void> }

/** Opens the services that are configured. What none of them can do is answered with an error. */
export function openServices(
  config: Pick<Config, 'llm' | 'models'>,
  tools: { log: Log; metrics: Metrics },
): OpenServices {
  const model = openLanguageModel(config, tools)
  return {
    addOns: model ? Object.fromEntries(serviceAddOns.map(({ name }) => [name, 'all'])) : {},
    async call(request, options) {
      if (model) return model.call(request, options)
      return { error: missingFor(request) }
    },
    async close() {
      await model?.close()
    },
  }
}

function missingFor({ task, target }: ServiceRequest): AddOnError {
  const what = task === 'translation' ? `translation into ${target}` : `${task}`
  const message = `${what} is not available on this server: it needs a language model (STENO_LLM_URL)`
  return { status_code: 501, exception: 'NotConfigured', message }
}
