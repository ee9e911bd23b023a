/**
 * The tokens that language models used, as their providers counted them: `metadata.usage`, an
 * extension of the API.
 */
export type TokenUsage = { requests: number; prompt_tokens: number; completion_tokens: number }

/**
 * Returns the usage of the responses of services; undefined if none states it. Two equal requests
 * share one response, which counts once.
 */
export function responseUsage(responses: readonly unknown[]): TokenUsage | undefined {
  const distinct = [...new Set(responses)] as ({ usage?: TokenUsage } | null | undefined)[]
  return sumUsage(distinct.map((response) => response?.usage))
}

/** Returns the sum; undefined when there is nothing to add. */
export function sumUsage(
  all: readonly (Partial<TokenUsage> | undefined)[],
): TokenUsage | undefined {
  const usages = all.flatMap((one) => one ?? [])
  if (usages.length === 0) return undefined
  const sum = (name: keyof TokenUsage) => usages.reduce((total, one) => total + (one[name] ?? 0), 0)
  return {
    requests: sum('requests'),
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
  }
}
