/** The tests with random inputs, with more of them; `npm test` makes their short form. */
import { IS_SHORT } from '../support/random/rounds.ts'

const files = [
  '../../src/api/bodies/validation/validate-fields.test.ts',
  '../../src/api/openapi/publish-schema.test.ts',
  '../../src/audio/containers/wav.test.ts',
  '../../src/audio/resample.test.ts',
  '../delivery/delivery-order.test.ts',
  '../../src/live/input/client-frames.test.ts',
  '../../src/live/input/resume-matcher.test.ts',
  '../../src/text/edits/edit-properties.test.ts',
  '../../src/text/formats/subtitle-readers.test.ts',
  '../../src/text/redaction/redaction-properties.test.ts',
  '../../src/text/result/steps/retry-property.test.ts',
  '../../src/text/words/sentences/punctuation.test.ts',
  '../delivery/api-deliveries-hostile.test.ts',
]
if (!IS_SHORT) for (const file of files) await import(file)
