import { wallNow } from '../clock.ts'
import type { CompletionUsage } from '../language-services/llm/chat-client.ts'
import { ServiceError } from '../language-services/service-error.ts'
import { sum } from '../numbers.ts'
import { readMonthTokens } from '../storage/accounts/usage/month-tokens.ts'
import type { Db } from '../storage/database/db.ts'

/**
 * The account that a request is made for, and the job or session that records its tokens when it
 * ends.
 */
export type TokenOwner = { account: string; job: string }

/** Limits the tokens of an account per month. */
export type TokenQuota = {
  /**
   * Calls `make`, a request of about `tokens` tokens. Rejects with `ServiceError`, status 402, if
   * that would exceed the limit.
   */
  spend<T extends { usage: CompletionUsage }>(
    owner: TokenOwner,
    tokens: number,
    make: () => Promise<T>,
  ): Promise<T>
}

/** Without a limit, nothing is counted. */
const unlimited: TokenQuota = { spend: (_owner, _tokens, make) => make() }

/**
 * Opens the quota of a server. This process counts the tokens of running jobs, and running requests
 * by their estimate, so that concurrent requests exceed the limit by no more than one request
 * would. It does not know the running requests of other nodes on the same database.
 */
export function openTokenQuota(db: Pick<Db, 'sql'>, maxPerMonth: number): TokenQuota {
  if (maxPerMonth === 0) return unlimited
  /** Tokens that are not in the database yet, by account and job. */
  const pending = new Map<string, Map<string, number>>()
  /** The last reservation of each account: the next one waits for it, so that it counts it. */
  const turns = new Map<string, Promise<unknown>>()

  function pendingOf(account: string): Map<string, number> {
    const byJob = pending.get(account) ?? new Map<string, number>()
    pending.set(account, byJob)
    return byJob
  }

  function add({ account, job }: TokenOwner, tokens: number): void {
    const byJob = pendingOf(account)
    byJob.set(job, (byJob.get(job) ?? 0) + tokens)
  }

  async function reserve(owner: TokenOwner, tokens: number): Promise<void> {
    const { account } = owner
    const byJob = pendingOf(account)
    const jobs = [...byJob.keys()].filter((job) => job !== owner.job)
    const { used, active, resetsAt } = await readMonthTokens(db, { account, jobs, now: wallNow() })
    for (const job of jobs) if (!active.has(job)) byJob.delete(job)
    const waiting = sum(byJob.values())
    if (used + waiting + tokens <= maxPerMonth) return add(owner, tokens)
    const reset = new Date(resetsAt).toISOString()
    throw new ServiceError(
      `the account would exceed its ${maxPerMonth} tokens of this month: it used ${used}, ${waiting} are in progress ` +
        `(STENO_ACCOUNT_MAX_TOKENS_PER_MONTH); the next month begins at ${reset}`,
      { status: 402, exception: 'QuotaExceeded' },
    )
  }

  return {
    async spend(owner, tokens, make) {
      const { account } = owner
      const turn = (turns.get(account) ?? Promise.resolve()).then(() => reserve(owner, tokens))
      turns.set(
        account,
        turn.catch(() => {}),
      )
      await turn
      let usedTokens = 0
      try {
        const response = await make()
        usedTokens = response.usage.prompt_tokens + response.usage.completion_tokens
        return response
      } finally {
        add(owner, usedTokens - tokens)
      }
    },
  }
}
