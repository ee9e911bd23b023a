import type { Static } from 'typebox'
import { modelKinds } from '../../../models/catalog.ts'
import { modelStates } from '../../../models/model-admin.ts'
import { Type } from '../common/type.ts'
import { OneOf } from '../common/values.ts'

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(
  type: T,
  description: string,
) => Type.Union([type, Type.Null()], { description })

const Pull = Type.Object({
  fraction: Type.Number({ description: 'Progress, from 0 to 1.' }),
  seconds_left: nullable(Type.Integer(), 'Null while unknown.'),
})

/** A model that is installed on this machine or can be. */
export const StoredModel = Type.Object(
  {
    name: Type.String(),
    kind: OneOf(...modelKinds),
    engine: nullable(Type.String(), 'What runs it; null where that is the program itself.'),
    languages: Type.Array(Type.String(), { description: 'Empty when it works on any.' }),
    license: nullable(Type.String(), 'SPDX license id.'),
    credit: nullable(Type.String(), 'Whom the license requires to be credited.'),
    bytes: Type.Integer({
      description: 'Size of its files; until it is installed, of its downloads.',
    }),
    memory_bytes: nullable(
      Type.Integer(),
      'Bytes of memory that a process takes with the model loaded.',
    ),
    state: OneOf(...modelStates),
    is_removable: Type.Boolean({ description: 'False for those that come with the server.' }),
    pull: nullable(Pull, 'The pull that runs or waits.'),
    failure: nullable(Type.String(), 'Why a pull failed in the last minute.'),
  },
  { title: 'StoredModel' },
)

/** A model in a response. */
export type StoredModel = Static<typeof StoredModel>

/** The models of a machine. */
export const StoredModelList = Type.Object(
  { items: Type.Array(StoredModel) },
  { title: 'StoredModelList' },
)
