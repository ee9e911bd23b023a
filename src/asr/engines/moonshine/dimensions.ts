/** Sizes that differ between the Moonshine models. */
export type MoonshineDimensions = {
  layers: number
  heads: number
  headSize: number
  hidden: number
  alignmentHeads: number
}
