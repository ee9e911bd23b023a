import { readModel, type WritableModel, writeModel } from '../../../../src/asr/onnx/onnx.ts'

/** Adds metadata to an .onnx file. */
export function addMetadata(file: string, metadata: Record<string, string | number>): void {
  const model: WritableModel & { metadata_props?: unknown } = readModel(file)
  model.metadata_props = Object.entries(metadata).map(([key, value]) => ({
    key,
    value: `${value}`,
  }))
  writeModel(file, model)
}
