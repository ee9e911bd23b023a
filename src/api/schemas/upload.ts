import Type from 'typebox'

/** The answer to an upload (contract 2.1). */
export const UploadView = Type.Object({
  audio_url: Type.String(),
  audio_metadata: Type.Object({
    id: Type.String(),
    filename: Type.String(),
    extension: Type.String(),
    size: Type.Integer(),
    audio_duration: Type.Number(),
    number_of_channels: Type.Integer(),
    source: Type.Optional(Type.String()),
  }),
})
