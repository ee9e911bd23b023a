/** Sizes that differ between the Moonshine models. */
export type MoonshineDimensions = {
  layers: number
  heads: number
  headSize: number
  hidden: number
  alignmentHeads: number
}

/** A published model; `noiseEncoder`: whether Steno adds a second encoder, for speech in noise. */
export type MoonshineModel = MoonshineDimensions & { noiseEncoder: boolean }

/** The published models for English. */
export const moonshineModels = {
  base: {
    ...{ layers: 8, heads: 8, headSize: 52, hidden: 416 },
    ...{ alignmentHeads: 6, noiseEncoder: true },
  },
  tiny: {
    ...{ layers: 6, heads: 8, headSize: 36, hidden: 288 },
    ...{ alignmentHeads: 6, noiseEncoder: false },
  },
} as const satisfies Record<string, MoonshineModel>

/** The size of a published model. */
export type MoonshineSize = keyof typeof moonshineModels

/** Returns the names of the graphs of a model, without their extension. */
export function moonshineGraphs({ noiseEncoder }: MoonshineModel): string[] {
  return ['encoder', ...(noiseEncoder ? ['encoder-noise'] : []), 'cross', 'decoder']
}
