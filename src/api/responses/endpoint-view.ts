import { maskCredentials } from '../../delivery/masking/mask-credentials.ts'
import type { Endpoint } from '../../storage/deliveries/endpoints/endpoints.ts'
import { toDateTime } from '../lists/date-time.ts'
import type { EndpointView } from '../schemas/webhooks/endpoint.ts'

/** Returns the response view of an endpoint. */
export function toEndpointView(endpoint: Endpoint): EndpointView {
  const { events, createdAt } = endpoint
  return {
    id: endpoint.id,
    account: endpoint.account,
    kind: endpoint.kind,
    url: maskCredentials(endpoint.url),
    name: endpoint.name,
    events: events && [...events],
    source: endpoint.source,
    status: endpointStatusOf(endpoint),
    failing_since: toDateTime(endpoint.failingSince),
    last_failure: endpoint.lastFailure,
    last_success_at: toDateTime(endpoint.lastSuccessAt),
    disabled_at: toDateTime(endpoint.disabledAt),
    disabled_reason: endpoint.disabledReason,
    created_at: toDateTime(createdAt),
  }
}

function endpointStatusOf({ disabledAt, failingSince }: Endpoint): EndpointView['status'] {
  if (disabledAt !== null) return 'disabled'
  return failingSince === null ? 'enabled' : 'failing'
}
