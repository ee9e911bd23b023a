import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { openConnection } from './sqlite-connection.ts'

test('closing waits for running statements and rejects later ones', async (t) => {
  const file = join(await makeFolder(t), 'a.sqlite')
  const connection = openConnection({ file, readOnly: false })
  await connection.run('create table t (x)', [])
  const other = new DatabaseSync(file)
  other.exec('begin immediate')
  const waiting = connection.run('insert into t values (?)', [1])
  const closed = connection.close()
  other.exec('commit')
  other.close()
  assert.equal((await waiting).changes, 1)
  await closed
  await assert.rejects(connection.run('select 1', []), /the database is closed/)
})

test('a failed statement reports its code, and the next one runs', async (t) => {
  const file = join(await makeFolder(t), 'a.sqlite')
  const connection = openConnection({ file, readOnly: false })
  t.after(() => connection.close())
  const error = await connection.run('select * from missing', []).catch((error) => error)
  assert.match(error.message, /no such table: missing/)
  assert.equal(error.errcode, 1)
  assert.deepEqual((await connection.run('select 1 as x', [])).rows[0], { x: 1 })
})

test('an unsendable value fails only its own statement', async (t) => {
  const file = join(await makeFolder(t), 'a.sqlite')
  const connection = openConnection({ file, readOnly: false })
  t.after(() => connection.close())
  const values = [1, () => {}, Buffer.from([2]), null]
  const all = await Promise.allSettled(
    values.map((value) => connection.run('select ? as x', [value])),
  )
  const rows = all.map((one) => (one.status === 'fulfilled' ? one.value.rows : one.reason.name))
  assert.deepEqual(rows, [
    [{ x: 1 }],
    'DataCloneError',
    [{ x: new Uint8Array([2]) }],
    [{ x: null }],
  ])
})

test('a statement of an ended transaction changes nothing', async (t) => {
  const file = join(await makeFolder(t), 'a.sqlite')
  const connection = openConnection({ file, readOnly: false })
  t.after(() => connection.close())
  await connection.run('create table t (x)', [])
  const inTransaction = { inTransaction: true }
  const statements = ['begin', 'insert into t values (1)', 'rollback', 'insert into t values (2)']
  const all = await Promise.allSettled(
    statements.map((sql) => connection.run(sql, [], sql === 'begin' ? {} : inTransaction)),
  )
  assert.deepEqual(
    all.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
  )
  assert.deepEqual((await connection.run('select * from t', [])).rows, [])
})

test('a batch is a transaction, which changes nothing if a statement fails', async (t) => {
  const file = join(await makeFolder(t), 'a.sqlite')
  const connection = openConnection({ file, readOnly: false })
  t.after(() => connection.close())
  await connection.run('create table t (x unique)', [])
  const add = (x: number) => ({ sql: 'insert into t values (?) returning x', parameters: [x] })
  const [failed, next] = await Promise.allSettled([
    connection.runBatch([add(1), add(2), add(1)]),
    connection.runBatch([add(2), { sql: 'select count(*) as n from t', parameters: [] }, add(3)]),
  ])
  assert.match(failed.status === 'rejected' ? failed.reason.message : '', /UNIQUE/)
  assert.equal(next.status, 'fulfilled')
  assert.deepEqual(
    next.value.map(({ rows }) => rows),
    [[{ x: 2 }], [{ n: 1 }], [{ x: 3 }]],
  )
  assert.deepEqual((await connection.run('select x from t', [])).rows, [{ x: 2 }, { x: 3 }])
})

test('rows have the columns of their statement, whatever their names', async (t) => {
  const file = join(await makeFolder(t), 'a.sqlite')
  const connection = openConnection({ file, readOnly: false })
  t.after(() => connection.close())
  const names = ['x', `"];'`, '__proto__', 'a.b']
  for (const some of [names, names.toReversed(), ['x']]) {
    const list = some.map((name, i) => `${i} as "${name.replaceAll('"', '""')}"`)
    const { rows } = await connection.run(`select ${list} union all select ${list}`, [])
    const row = some.map((name, i) => [name, i])
    assert.deepEqual(
      rows.map((one) => Object.entries(one as object)),
      [row, row],
    )
  }
})

test('a database that cannot be opened fails its statements', async (t) => {
  const connection = openConnection({ file: await makeFolder(t), readOnly: false })
  await assert.rejects(connection.run('select 1', []), /unable to open database file/)
  await connection.close()
})
