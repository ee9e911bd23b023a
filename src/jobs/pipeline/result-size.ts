import { AppError } from '../../errors.ts'
import type { DiskSpace } from '../../storage/data-folder/disk-space.ts'

/**
 * Maximum size of a result. The result of hours of speech with every add-on is a tenth of this.
 * Results are served from memory, and only texts that are crafted to grow exceed this.
 */
const MAX_RESULT_BYTES = 128 * 1024 * 1024
/**
 * A result up to this size is stored whatever the account already uses, because its job was
 * accepted.
 */
const FREE_RESULT_BYTES = 1024 * 1024

/**
 * Throws `result_too_large`, or `quota_exceeded` if a result that is not small exceeds the
 * account's quota.
 */
export async function checkResultSize(
  space: Pick<DiskSpace, 'checkQuota'>,
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
