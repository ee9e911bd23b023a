/** What the dashboard writes where schemas of the API make its forms and lists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherConfigFields } from '../../../dashboard/src/recordings/schema-fields.ts'
import { texts } from '../../../dashboard/src/texts.ts'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'

const { addOns: addOnTexts, fields: fieldTexts, switches } = texts.options

test('every add-on, config field and choice has a dashboard text', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const { add_ons, entity_types } = (await call<ApiCapabilities>(server, '/v2/capabilities')).body
  const used = new Set<string>()
  const missing = add_ons.flatMap((addOn) => {
    const { name } = addOn
    const named = name in addOnTexts || name in switches ? [] : [name]
    const fields = otherConfigFields(addOn).flatMap((field) => {
      const says = fieldTexts[name]?.[field.name]
      used.add(`${name}.${field.name}`)
      if (!says) return [`${name}.${field.name}`]
      const values = 'values' in field ? field.values : []
      for (const value of values) used.add(`${name}.${field.name}.${value}`)
      const unnamed = values.filter((value) => says.values?.[value] === undefined)
      return unnamed.map((value) => `${name}.${field.name}: ${value}`)
    })
    return [...named, ...fields]
  })
  assert.deepEqual(missing, [])
  const entityTexts = fieldTexts.pii_redaction!.entity_types!.values!
  assert.deepEqual(
    entity_types.filter(({ type }) => !entityTexts[type]),
    [],
  )
  const written = Object.entries(fieldTexts).flatMap(([name, fields]) => {
    return Object.entries(fields).flatMap(([field, { values = {} }]) => {
      const place = `${name}.${field}`
      return [place, ...Object.keys(values).map((value) => `${place}.${value}`)]
    })
  })
  assert.deepEqual(
    written.filter((place) => !used.has(place)),
    [],
    'no text is left over',
  )
})
