// Answers of the HTTP API about deliveries, as far as the commands read them.

/** One delivery as served; `show` prints whatever else comes with it. */
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
