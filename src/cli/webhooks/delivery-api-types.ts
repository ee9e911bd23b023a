// Answers of the HTTP API about deliveries, with the fields that the commands read.

/** One delivery in the form of the API; `show` prints all its other fields too. */
export type ApiDelivery = {
  id: string
  job_id: string | null
  endpoint_id: string
  event: string
  url: string
  status: 'pending' | 'delivered' | 'failed'
  reason: string | null
  attempt_count: number
  created_at: string
  next_attempt_at: string | null
}

/** One page of deliveries. */
export type DeliveryList = { items: ApiDelivery[]; next: string | null }
