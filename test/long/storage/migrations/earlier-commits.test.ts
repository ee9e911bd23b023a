/**
 * What the server of any earlier commit leaves, under this one. `npm run test:commits` takes twenty
 * commits at random; `STENO_TEST_COMMITS` is another number, `stores` for one commit of each
 * state of what is stored, or a list of commits. It needs the history, and a package registry for
 * the models of these commits.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createRandom } from '../../../support/random/random.ts'
import { SEED } from '../../../support/random/rounds.ts'
import { createDatabase, noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'
import { checkUpgraded, startUpgraded } from '../../../support/storage/upgrades/check-upgraded.ts'
import {
  type EarlierCommit,
  findCommits,
  lastOfEachStore,
  makeStore,
} from '../../../support/storage/upgrades/earlier-commits.ts'
import {
  connectClient,
  loadDump,
  unpackStore,
} from '../../../support/storage/upgrades/upgrade-stores.ts'

const wanted = process.env.STENO_TEST_COMMITS ?? ''

function chooseCommits(): EarlierCommit[] {
  const all = findCommits()
  if (wanted === 'stores') return lastOfEachStore(all)
  if (/^\d{1,3}$/.test(wanted)) {
    const random = createRandom(SEED)
    return all
      .map((commit) => ({ commit, place: random() }))
      .sort((a, b) => a.place - b.place)
      .slice(0, Number(wanted))
      .map(({ commit }) => commit)
  }
  const ids = wanted.split(',')
  return all.filter(({ id }) => ids.some((begin) => id.startsWith(begin)))
}

describe('stores of earlier commits', {
  skip: !wanted && 'takes minutes for each commit: npm run test:commits',
}, () => {
  /** The models of these commits. */
  let models: string
  before(async () => {
    models = await mkdtemp(join(tmpdir(), 'steno-models-'))
  })
  after(() => rm(models, { recursive: true }))

  for (const commit of wanted ? chooseCommits() : []) {
    const name = `${commit.id.slice(0, 8)} ${commit.title}`
    test(`SQLite: ${name}`, async (t) => {
      const file = join(await makeFolder(t), 'store.tgz')
      await makeStore(commit, { file, models })
      const { data, expected } = await unpackStore(t, file)
      await checkUpgraded(await startUpgraded(t, expected, { STENO_DATA_DIR: data }), expected)
    })
    if (!commit.hasPostgres) continue
    test(`PostgreSQL: ${name}`, { skip: noPostgres }, async (t) => {
      const file = join(await makeFolder(t), 'store.tgz')
      await makeStore(commit, { file, models, database: (await createDatabase()).url })
      const { folder, data, expected } = await unpackStore(t, file)
      const { url } = await createDatabase()
      await loadDump(await connectClient(t, url), folder)
      const env = { STENO_DATA_DIR: data, STENO_DATABASE_URL: url }
      await checkUpgraded(await startUpgraded(t, expected, env), expected)
    })
  }
})
