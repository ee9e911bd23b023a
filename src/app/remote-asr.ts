import type { RemoteOptions } from '../asr/engines/remote/remote-recognizer.ts'
import type { Config } from '../config/config.ts'
import { createServiceClient } from '../net/service-client.ts'
import type { Log } from '../observability/log.ts'

/**
 * Returns the options of the configured remote engine, with its HTTP client; undefined when there
 * is none.
 */
export function remoteOptions(
  { models: { remote } }: Pick<Config, 'models'>,
  log: Log,
): RemoteOptions | undefined {
  if (!remote) return undefined
  const { url, apiKey } = remote
  const onRetry = (problem: string) => log.warn({ problem }, 'remote engine failed, retrying')
  return { ...remote, client: createServiceClient({ url, apiKey, onRetry }) }
}
