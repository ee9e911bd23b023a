/** What language models took, as their providers counted it: `metadata.usage`, our extension. */
export type TokenUsage = { requests: number; prompt_tokens: number; completion_tokens: number }

/**
 * Returns what the responses of services took; undefined when none of them says so. Two requests
 * that are the same share one response, which was paid for once.
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
