import { indexFinishedJobs } from '../../../src/jobs/search-index.ts'
import { sharedParts } from '../server/shared-parts.ts'
import type { TestServer } from '../server/start-server.ts'

/** Indexes what was said in all finished jobs, without waiting for the usual interval. */
export async function indexNow({ app }: Pick<TestServer, 'app'>): Promise<void> {
  const { signal } = new AbortController()
  const { resultBuilder } = sharedParts()
  const { db } = app.storage
  await indexFinishedJobs({ db, resultBuilder: resultBuilder!, log: app.log, signal })
}
