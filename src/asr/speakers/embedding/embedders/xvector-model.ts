import { fileURLToPath } from 'node:url'

/** The built-in model. */
export const xvectorModelPath = fileURLToPath(new URL('../model/xvector-8k.onnx', import.meta.url))
