import type { Params } from '../add-ons/add-on.ts'
import type { ServiceAddOn } from '../service-add-ons/service-add-on.ts'
import { serviceAddOns as allServiceAddOns } from '../service-add-ons/service-add-ons.ts'
import type { ResultFormat } from './steps/envelope.ts'
import type { AddOnRunOptions } from './steps/run-add-on.ts'
import { mergeServiceAddOn, type ServiceResponses } from './steps/run-service-add-on.ts'
import {
  addResponseUsage,
  putEnvelope,
  type StoredResult,
  storedTranscript,
} from './stored-result.ts'

/** The JSON text of a built result, and the responses of services to write into it. */
export type Merge = {
  result: string
  params: Params
  format: ResultFormat
  serviceResponses: ServiceResponses[]
}

/** The options of a merge. */
export type MergeOptions = Pick<AddOnRunOptions, 'failedSteps' | 'now' | 'onFault'> & {
  /** Called before each add-on, with its name. */
  onStep: (name: string) => void
  /** For tests. */
  serviceAddOns?: readonly ServiceAddOn[]
}

/** Returns the JSON text of a result with the add-ons computed from `serviceResponses`. */
export function mergeResponses(
  { result: text, params, format, serviceResponses }: Merge,
  { onStep, serviceAddOns = allServiceAddOns, ...run }: MergeOptions,
): string {
  const result = JSON.parse(text) as StoredResult
  const transcript = storedTranscript(result, params)
  for (const addOnResponses of serviceResponses) {
    const { name } = addOnResponses
    const addOn = serviceAddOns.find((other) => other.name === name)
    if (!addOn) throw new Error('answers of an unknown add-on')
    onStep(name)
    const envelope = mergeServiceAddOn(addOn, transcript, addOnResponses, {
      ...run,
      params,
      format,
    })
    putEnvelope(result, name, envelope)
  }
  addResponseUsage(result, serviceResponses)
  return JSON.stringify(result)
}
