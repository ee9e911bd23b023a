import { Type } from '../common/type.ts'
import { OneOf } from '../common/values.ts'

/** A name of a model, in the form of OpenAI's API. */
export const Model = Type.Object(
  {
    id: Type.String({ description: 'A name that requests may use' }),
    object: OneOf('model'),
    created: Type.Integer({ description: 'Always 0' }),
    owned_by: Type.String(),
    languages: Type.Array(Type.String(), {
      description: 'Languages that it recognizes on this server, best first',
    }),
  },
  { title: 'Model' },
)

/** The names of models, in the form of OpenAI's API. */
export const ModelList = Type.Object(
  { object: OneOf('list'), data: Type.Array(Model) },
  { title: 'ModelList' },
)
