/** Sizes that differ between the Moonshine models. */
export type MoonshineShape = {
  layers: number
  heads: number
  headSize: number
  hidden: number
  alignmentHeads: number
}
