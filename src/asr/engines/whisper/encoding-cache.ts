import { createHash } from 'node:crypto'
import { floatsOf, type Tensors } from '../../onnx/onnx-runtime.ts'
import type { MelFeatures } from './features.ts'

/** A cache of encoded segments, limited in bytes; the oldest segments are removed first. */
export type EncodingCache = {
  keep(features: MelFeatures, encoded: Tensors): void
  /** Returns the encoding of a segment, if cached, and removes it. */
  take(features: MelFeatures): Tensors | undefined
}

/** Creates an empty cache. Its keys are hashes of the features of a segment. */
export function createEncodingCache(maxBytes: number): EncodingCache {
  const cachedEntries = new Map<string, { encoded: Tensors; bytes: number }>()
  let total = 0
  const take = (key: string) => {
    const cachedEntry = cachedEntries.get(key)
    cachedEntries.delete(key)
    total -= cachedEntry?.bytes ?? 0
    return cachedEntry?.encoded
  }
  return {
    keep(features, encoded) {
      const bytes = Object.values(encoded).reduce(
        (sum, tensor) => sum + floatsOf(tensor).byteLength,
        0,
      )
      const key = featuresKey(features)
      take(key)
      if (bytes > maxBytes) return
      for (const oldest of cachedEntries.keys()) {
        if (total + bytes <= maxBytes) break
        take(oldest)
      }
      cachedEntries.set(key, { encoded, bytes })
      total += bytes
    },
    take: (features) => (cachedEntries.size > 0 ? take(featuresKey(features)) : undefined),
  }
}

function featuresKey({ data }: MelFeatures): string {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return createHash('sha1').update(bytes).digest('base64')
}
