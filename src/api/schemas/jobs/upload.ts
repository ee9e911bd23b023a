import { Type } from '../common/type.ts'
import { Seconds, Uri, Uuid } from '../common/values.ts'
import { HttpUrl } from './add-on-configs.ts'

/** The body of an upload by URL. */
export const UploadRequest = Type.Object({ audio_url: HttpUrl }, { title: 'UploadAddress' })

/**
 * The form of an upload. The schema serves only the description, because a form is read as it
 * arrives.
 */
export const UploadForm = Type.Object(
  {
    audio: Type.Unsafe({
      contentMediaType: 'application/octet-stream',
      description: 'The file; there must be exactly one. Other parts are ignored',
    }),
  },
  { title: 'UploadForm' },
)

/** The response to an upload. */
export const UploadView = Type.Object(
  {
    audio_url: Uri,
    audio_metadata: Type.Object({
      id: Uuid,
      filename: Type.String(),
      extension: Type.String({
        description: 'The type of the file as detected, in lower case, without a dot',
      }),
      size: Type.Integer({ minimum: 0, description: 'Bytes' }),
      audio_duration: Seconds,
      number_of_channels: Type.Integer({ minimum: 1 }),
      source: Type.Optional(
        Type.String({
          description: 'The address from which it was fetched, as the client sent it',
        }),
      ),
    }),
  },
  { title: 'Upload' },
)
