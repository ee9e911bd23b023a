import type { Static } from 'typebox'
import { accountScopes, scopes } from '../../../storage/accounts/keys.ts'
import { Type } from '../common/type.ts'
import { DateTime, Nullable, OneOf } from '../common/values.ts'

const YEAR_S = 366 * 86_400
/** The longest text that fits a line of the list. */
const MAX_LABEL_CHARS = 100

function Label(description: string) {
  return Type.String({ minLength: 1, maxLength: MAX_LABEL_CHARS, format: 'label', description })
}

/** The body of a request for a new key. */
export const KeyRequest = Type.Object(
  {
    name: Type.Optional(Label('Its display name')),
    account: Type.Optional(
      Label(
        'The account whose jobs it opens; without the scope `admin`, only that of the key of the request',
      ),
    ),
    scopes: Type.Array(OneOf(...scopes), {
      minItems: 1,
      maxItems: scopes.length,
      default: [...accountScopes],
      description:
        'What it may do; without the scope `admin`, at most what the key of the request may',
    }),
    expires_in_s: Type.Optional(
      Type.Integer({
        minimum: 60,
        maximum: 10 * YEAR_S,
        description: 'Seconds until it expires; by default it never does',
      }),
    ),
  },
  { title: 'KeyRequest', examples: [{ name: 'night job', scopes: ['read'] }] },
)

/** The body of a request for a new key, after validation. */
export type KeyRequest = Static<typeof KeyRequest>

const fields = {
  id: Type.String({ description: 'The beginning of the key' }),
  account: Type.String(),
  name: Nullable(Type.String()),
  scopes: Type.Array(OneOf(...scopes)),
  created_at: DateTime,
  expires_at: Nullable(DateTime),
  last_used_at: Nullable(DateTime),
  is_own: Type.Boolean({ description: 'Whether this request used it' }),
}

/** The response to the creation of a key, the only response that contains it. */
export const CreatedKey = Type.Object(
  {
    ...fields,
    key: Type.String({
      description:
        'The key. Only this response contains it, because the server stores only its hash',
    }),
  },
  { title: 'CreatedKey' },
)

/** The keys of an account, or of all. */
export const KeyList = Type.Object(
  { items: Type.Array(Type.Object(fields, { title: 'Key' })) },
  { title: 'KeyList' },
)
