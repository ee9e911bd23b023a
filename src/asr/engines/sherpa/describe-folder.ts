import type { CheckpointForm } from '../../../models/install/describe-checkpoint.ts'
import { readSherpaLayout } from './layout.ts'

/**
 * Describes the model of sherpa-onnx in a folder for its installation. Throws `Error` that says why
 * there is none.
 */
export function describeFolder(folder: string): CheckpointForm {
  const { family, files } = readSherpaLayout(folder)
  const isStreaming = family === 'streaming-transducer'
  return {
    engine: 'sherpa',
    kind: isStreaming ? 'streaming-recognition' : 'recognition',
    files,
    // Recognition with hotwords loads a second copy of the networks.
    memoryFactor: family === 'transducer' ? 2 : 1,
  }
}
