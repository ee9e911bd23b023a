import { secondsSince } from '../../clock.ts'
import type { Log } from '../../observability/log.ts'
import { type AddOnError, AddOnFailedError } from '../../text/result/steps/envelope.ts'
import type {
  ServiceRequests,
  ServiceResponses,
} from '../../text/result/steps/run-service-add-on.ts'
import type {
  ServiceCallOptions,
  ServiceRequest,
  Services,
} from '../../text/service-add-ons/service-add-on.ts'
import { mapConcurrently } from '../../workers/map-concurrently.ts'
import { type CheckpointFile, hashOfJson } from './checkpoints/checkpoint-file.ts'

/** Stores the responses of services by the hash of their request. */
export type ResponseStore = Pick<CheckpointFile<unknown>, 'find' | 'append'>

type JobCallOptions = Omit<ServiceCallOptions, 'memoize'> & {
  responses: ResponseStore
  log: Log
  /** Called with the fraction of the requests that have a response. */
  onProgress?: (fraction: number) => void
}

/** How many requests of one job run at a time. */
const MAX_CALLS = 4

/** A call that failed, as opposed to a response that could not be stored. */
class ServiceCallError extends Error {}

/**
 * Calls services for the requests of add-ons, one add-on after another. Each response is stored,
 * and never requested again. A failed call fails only its add-on. Rejects when aborted, or when a
 * response cannot be stored.
 */
export async function callServices(
  services: Services,
  prepared: readonly ServiceRequests[],
  { onProgress, ...options }: JobCallOptions,
): Promise<ServiceResponses[]> {
  const serviceResponses: ServiceResponses[] = []
  const countOf = (addOnRequests: ServiceRequests) =>
    'error' in addOnRequests ? 0 : addOnRequests.requests.length
  const total = prepared.reduce((sum, addOnRequests) => sum + countOf(addOnRequests), 0)
  let completedBefore = 0
  for (const addOnRequests of prepared) {
    let completed = completedBefore
    completedBefore += countOf(addOnRequests)
    const onResponses = (count: number) => {
      completed += count
      onProgress?.(completed / total)
    }
    const startedAt = performance.now()
    const outcome =
      'error' in addOnRequests
        ? addOnRequests
        : await responsesOf(services, addOnRequests, { ...options, onResponses })
    const seconds = addOnRequests.seconds + secondsSince(startedAt)
    serviceResponses.push({ ...outcome, name: addOnRequests.name, seconds })
  }
  return serviceResponses
}

async function responsesOf(
  services: Services,
  { name, requests }: ServiceRequests & { requests: ServiceRequest[] },
  {
    responses,
    log,
    onResponses,
    ...options
  }: JobCallOptions & { onResponses: (count: number) => void },
): Promise<{ responses: unknown[] } | { error: AddOnError }> {
  const { signal } = options
  const keys = requests.map(hashOfJson)
  let storageError: unknown
  const memoize: ServiceCallOptions['memoize'] = async (keyParts, request) => {
    const key = hashOfJson(keyParts)
    const storedResponse = responses.find(key)
    if (storedResponse !== undefined) return storedResponse as Awaited<ReturnType<typeof request>>
    const response = await request()
    await responses.append(key, response).catch((error) => {
      storageError = error
      throw error
    })
    return response
  }
  const missing = new Map<string, ServiceRequest>()
  for (const [i, key] of keys.entries()) {
    if (responses.find(key) === undefined) missing.set(key, requests[i]!)
  }
  // Stored responses count, and so do requests that are sent once for several.
  if (missing.size < keys.length) onResponses(keys.length - missing.size)
  try {
    await mapConcurrently(
      [...missing],
      async ([key, request], signal) => {
        const response = await callService(services, request, { ...options, signal, memoize })
        await responses.append(key, response)
        onResponses(1)
      },
      { limit: MAX_CALLS, signal },
    )
  } catch (error) {
    signal.throwIfAborted()
    if (storageError) throw storageError
    if (!(error instanceof ServiceCallError)) throw error
    const { cause } = error
    // The message of the cause may quote the texts or a secret.
    log.warn({ addOn: name, error: errorName(cause) }, 'a service failed')
    return { error: cause instanceof AddOnFailedError ? cause.error : serviceFailed(name) }
  }
  return { responses: keys.map((key) => responses.find(key)) }
}

async function callService(
  services: Services,
  request: ServiceRequest,
  options: ServiceCallOptions,
): Promise<unknown> {
  try {
    const response = await services.call(request, options)
    if (response === undefined) throw new TypeError('a service returned nothing')
    return response
  } catch (cause) {
    throw new ServiceCallError('a service failed', { cause })
  }
}

function serviceFailed(name: string): AddOnError {
  const message = `the service that ${name} needs failed or cannot be reached`
  return { status_code: 502, exception: 'ServiceFailed', message }
}

function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}
