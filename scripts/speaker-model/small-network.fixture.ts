/**
 * A small x-vector network of random numbers in Kaldi's binary format, and what it computes,
 * written apart.
 */

type Layer = {
  offsets: number[]
  weights: number[][]
  bias: number[]
  mean: number[]
  variance: number[]
}

/** Numbers in a frame of its input. */
export const INPUTS = 4
/** Frames before and after a frame that its layers see. */
export const CONTEXT = 3

const TARGET_RMS = 0.5
const EPSILON = 0.001
const VARIANCE_FLOOR = 0.01
const random = createRandom()
const layers = [layer(INPUTS, 6, [-1, 0, 1]), layer(6, 5, [-2, 0, 2]), layer(5, 7, [0])]
const embedding = layer(14, 3, [0])

/** The file; `edit` changes its text-like parts, byte for byte, to damage it. */
export function networkBytes(edit: (latin: string) => string = (latin) => latin): Uint8Array {
  const wiring = layers.flatMap(({ offsets }, i) => {
    const [from, name] = [i === 0 ? 'input' : `t${i}.norm`, `t${i + 1}`]
    const terms = offsets.map((offset) => (offset === 0 ? from : `Offset(${from}, ${offset})`))
    return [
      `${name}.affine component=${name}.affine input=${offsets.length > 1 ? `Append(${terms.join(', ')})` : from}`,
      `${name}.relu component=${name}.relu input=${name}.affine`,
      `${name}.norm component=${name}.norm input=${name}.relu`,
    ]
  })
  const nodes = [
    ...wiring,
    'extraction component=extraction input=t3.norm',
    'pooling component=pooling input=extraction',
    't4.affine component=t4.affine input=Round(pooling, 1)',
    't4.relu component=t4.relu input=t4.affine',
    't4.norm component=t4.norm input=t4.relu',
  ].map((node) => `component-node name=${node}\n`)
  const components = [
    ...layers.flatMap((parameters, i) => [
      affineComponent(`t${i + 1}.affine`, parameters),
      component(`t${i + 1}.relu`, 'RectifiedLinearComponent', `<Count> ${double(7)}`),
      normComponent(`t${i + 1}.norm`, parameters),
    ]),
    component('extraction', 'StatisticsExtractionComponent', '<IncludeVarinance> T'),
    component('pooling', 'StatisticsPoolingComponent', `<VarianceFloor> ${float(VARIANCE_FLOOR)}`),
    affineComponent('t4.affine', embedding),
    component('t4.relu', 'RectifiedLinearComponent', `<Count> ${double(7)}`),
    normComponent('t4.norm', embedding),
  ]
  const latin =
    `\0B<Nnet3> \ninput-node name=input dim=${INPUTS}\n${nodes.join('')}` +
    'output-node name=output input=t4.affine objective=linear\n\n' +
    `<NumComponents> ${integer(components.length)}${components.join('')}</Nnet3> `
  return Buffer.from(edit(latin), 'latin1')
}

/** The embedding of frames [from, to) of what the layers give, step by step as they are stored. */
export function plainEmbedding(features: readonly number[][], from: number, to: number): number[] {
  let frames: readonly number[][] = features
  for (const layer of layers) {
    const reach = Math.max(...layer.offsets)
    frames = frames.slice(reach, frames.length - reach).map((_, t) => {
      return apply(
        layer,
        layer.offsets.flatMap((offset) => frames[t + reach + offset]!),
      )
    })
  }
  const window = frames.slice(from, to)
  const mean = frames[0]!.map((_, i) => average(window.map((frame) => frame[i]!)))
  const deviation = mean.map((m, i) => {
    return Math.sqrt(Math.max(VARIANCE_FLOOR, average(window.map((frame) => (frame[i]! - m) ** 2))))
  })
  return apply(embedding, [...mean, ...deviation])
}

function apply({ weights, bias, mean, variance }: Layer, input: readonly number[]): number[] {
  return affine(weights, bias, input).map((value, i) => {
    return ((Math.max(0, value) - mean[i]!) * TARGET_RMS) / Math.sqrt(variance[i]! + EPSILON)
  })
}

function affine(weights: number[][], bias: number[], input: readonly number[]): number[] {
  return weights.map((row, i) => row.reduce((sum, w, j) => sum + w * input[j]!, bias[i]!))
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function layer(inputs: number, outputs: number, offsets: number[]): Layer {
  return {
    offsets,
    weights: rows(outputs, inputs * offsets.length),
    bias: numbers(outputs),
    mean: numbers(outputs).map(Math.abs),
    variance: numbers(outputs).map((value) => value * value + 0.05),
  }
}

function rows(count: number, columns: number): number[][] {
  return Array.from({ length: count }, () => numbers(columns))
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, () => Math.fround(2 * random() - 1))
}

/** A linear congruential generator (Numerical Recipes), so that each run tests the same numbers. */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function affineComponent(
  name: string,
  { weights, bias }: { weights: number[][]; bias: number[] },
): string {
  const fields = `<MaxChange> ${float(0.75)}<LinearParams> ${matrix(weights)}<BiasParams> ${vector(bias)}<UpdatePeriod> ${integer(4)}`
  return component(name, 'NaturalGradientAffineComponent', fields)
}

function normComponent(name: string, { mean, variance }: Layer): string {
  const fields = `<Epsilon> ${float(EPSILON)}<TargetRms> ${float(TARGET_RMS)}<TestMode> F<Count> ${double(9)}`
  const statistics = `<StatsMean> ${vector(mean)}<StatsVar> ${vector(variance)}`
  return component(name, 'BatchNormComponent', fields + statistics)
}

function component(name: string, type: string, fields: string): string {
  return `<ComponentName> ${name} <${type}> ${fields}</${type}> `
}

function matrix(values: number[][]): string {
  const sizes = integer(values.length) + integer(values[0]!.length)
  return `FM ${sizes}${values.flat().map(plainFloat).join('')}`
}

function vector(values: number[]): string {
  return `FV ${integer(values.length)}${values.map(plainFloat).join('')}`
}

function integer(value: number): string {
  return `\x04${latinOf(new Int32Array([value]))}`
}

function float(value: number): string {
  return `\x04${plainFloat(value)}`
}

function double(value: number): string {
  return `\x08${latinOf(new Float64Array([value]))}`
}

function plainFloat(value: number): string {
  return latinOf(new Float32Array([value]))
}

function latinOf({ buffer }: { buffer: ArrayBuffer }): string {
  return Buffer.from(buffer).toString('latin1')
}
