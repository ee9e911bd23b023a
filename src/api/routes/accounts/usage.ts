import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { App } from '../../../app/app-type.ts'
import { DAY_MS, wallNow } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { readMonthUsage } from '../../../storage/accounts/usage/audio-quota.ts'
import { readMonthTokens } from '../../../storage/accounts/usage/month-tokens.ts'
import { startOfDay } from '../../../storage/accounts/usage/usage.ts'
import { reportUsage, type UsageSum } from '../../../storage/accounts/usage/usage-report.ts'
import { roundTo } from '../../../transcript/rounding.ts'
import { requireAccount } from '../../auth/require-account.ts'
import { parseDateTime, toDateTime } from '../../lists/date-time.ts'
import { UsageQuery, UsageReport } from '../../schemas/accounts/usage.ts'
import { errorResponses } from '../../schemas/common/error.ts'

/** Maximum days of a report: more would make the response long. */
const MAX_DAYS = 366

/** Adds up what accounts used, and shows their quotas. An extension of the API. */
export function usageRoutes({
  config,
  storage: { db, space },
}: Pick<App, 'config' | 'storage'>): FastifyPluginAsyncTypebox {
  const schema = {
    tags: ['Server'],
    operationId: 'getUsage',
    summary: 'Get the usage of an account',
    description:
      'Returns jobs, seconds of audio, add-ons and tokens of language models, added up by the UTC day on which a job ended, ' +
      'by the key that requested it, or by its kind. What was used stays counted when the job is deleted. A failed ' +
      'recording counts no seconds, a failed session those that it recorded.',
    querystring: UsageQuery,
    response: { 200: UsageReport, ...errorResponses(400, 403) },
  }

  return async (http) => {
    http.get('/v2/usage', { schema }, async ({ query, scopes, account: caller }) => {
      const account = requireAccount(query, { account: caller, scopes })
      const { from, to } = readDays(query, wallNow())
      const by = [...new Set(query.by ?? ['day' as const])]
      const period = { account, from, to: to + DAY_MS }
      const items = await reportUsage(db, { ...period, by })
      const [total] = await reportUsage(db, { ...period, by: [] })
      return {
        from: toDay(from),
        to: toDay(to),
        by,
        items: items.map(viewItem),
        total: viewSums(total!),
        quotas: account === undefined ? null : await readQuotas(account),
      }
    })
  }

  async function readQuotas(account: string): Promise<NonNullable<UsageReport['quotas']>> {
    const month = await readMonthUsage(db, { account, now: wallNow() })
    const tokens = await readMonthTokens(db, { account, jobs: [], now: wallNow() })
    const { held, limit } = await space.readQuota(account)
    return {
      month: {
        limit: config.jobs.maxSecondsPerMonth || null,
        used: roundTo(month.used, 6),
        in_progress: roundTo(month.inProgress, 6),
        resets_at: toDateTime(month.resetsAt),
      },
      tokens: {
        limit: config.jobs.maxTokensPerMonth || null,
        used: tokens.used,
        resets_at: toDateTime(tokens.resetsAt),
      },
      storage: { limit: limit ?? null, used: held },
    }
  }
}

type Days = { from?: string | undefined; to?: string | undefined }

/**
 * Returns the first and the last day: the milliseconds from 1970 to the midnight at which each
 * begins.
 */
function readDays({ from, to }: Days, now: number): { from: number; to: number } {
  const lastDay = startOfDay(to === undefined ? now : parseDateTime(to)!)
  const date = new Date(lastDay)
  const month = Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
  const firstDay = from === undefined ? month : startOfDay(parseDateTime(from)!)
  if (firstDay <= lastDay && lastDay - firstDay < MAX_DAYS * DAY_MS) {
    return { from: firstDay, to: lastDay }
  }
  const rule =
    firstDay > lastDay ? 'must not be after to' : `must be within ${MAX_DAYS} days before to`
  throw new AppError('request_invalid', undefined, { validationErrors: [`from ${rule}`] })
}

function toDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

function viewItem({ day, account, key, kind, ...sums }: UsageSum): UsageReport['items'][number] {
  return {
    ...(account !== undefined && { account }),
    ...(day !== undefined && { day: toDay(day) }),
    ...(key !== undefined && { key }),
    ...(kind !== undefined && { kind }),
    ...viewSums(sums),
  }
}

function viewSums(sum: UsageSum): UsageReport['total'] {
  const { jobs, failedJobs, audioSeconds, channelSeconds, addOns, llm } = sum
  return {
    jobs,
    failed_jobs: failedJobs,
    audio_duration: roundTo(audioSeconds, 6),
    billing_time: roundTo(channelSeconds, 6),
    add_ons: addOns,
    usage: llm,
  }
}
