import { AppError } from '../../errors.ts'
import type { StorageLimits } from '../../storage/data-folder/storage-limits.ts'

/**
 * The result of hours of speech with every add-on is a tenth of this. Results are served from
 * memory, and only texts that are made to grow give a longer one.
 */
const MAX_RESULT_BYTES = 128 * 1024 * 1024
/** A result up to this size is stored whatever its account already uses: the job was accepted. */
const FREE_RESULT_BYTES = 1024 * 1024

/**
 * Fails with `result_too_large`, or with `quota_exceeded` if a large one exceeds the account's
 * quota.
 */
export async function checkResultSize(
  space: Pick<StorageLimits, 'checkQuota'>,
  { account }: { account: string },
  text: string,
): Promise<void> {
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_RESULT_BYTES) {
    throw new AppError(
      'result_too_large',
      `it has ${bytes} bytes, the limit is ${MAX_RESULT_BYTES}`,
    )
  }
  if (bytes > FREE_RESULT_BYTES) await space.checkQuota(account, bytes)
}
