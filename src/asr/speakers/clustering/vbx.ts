import { sum } from '../../../numbers.ts'
import { dot } from './vectors.ts'

/**
 * How embeddings of length 1 vary: the variance within one speaker, summed over all dimensions, and
 * the variance between speakers as a multiple of that. From the mean cosines of windows of 1.2 s:
 * 0.5 for one speaker, 0.14 for two.
 */
const WITHIN_SPEAKER_VARIANCE = 0.45
const BETWEEN_SPEAKER_VARIANCE = 0.9
/** Windows overlap, so each counts for less than one (F_A in the paper). */
const ACOUSTIC_SCALE = 0.3
/**
 * The penalty of a speaker (F_B in the paper): the longer the recording, the more windows differ
 * from their speaker by chance. 3 up to 30 s of speech, 4 at a minute, 6 from three minutes on.
 */
const MIN_PENALTY = 3
const MAX_PENALTY = 6
const SHORT_RECORDING = 100
const PENALTY_GROWTH = 0.4
/** Probability that the next window, 0.3 s later, is of the same speaker. */
const LOOP_PROBABILITY = 0.8
const MAX_ROUNDS = 15
/** Rounds end when the evidence lower bound rises by less than this share. */
const TOLERANCE = 1e-4

/**
 * Returns the posterior of each speaker in each window: `posteriors[t][k]`, whose sum over the
 * speakers is 1. A Bayesian hidden Markov model of speakers (VBx: Landini, Profant, Diez and
 * Burget, 2022, "Bayesian HMM clustering of x-vector sequences") with the same variance in all
 * directions; a speaker that the recording does not need ends with a posterior near 0. `embeddings`
 * are in order of time, of length 1; `start` is the initial speaker of each. `penaltyScale` below 1
 * scales the penalty of a speaker, for when more are requested than are needed.
 */
export function inferSpeakers(
  embeddings: readonly Float32Array[],
  {
    start,
    speakerCount,
    penaltyScale = 1,
  }: { start: readonly number[]; speakerCount: number; penaltyScale?: number },
): Float64Array[] {
  const scale = Math.sqrt((embeddings[0]?.length ?? 0) / WITHIN_SPEAKER_VARIANCE)
  const windows = embeddings.map((embedding) => Float64Array.from(embedding, (x) => x * scale))
  let posteriors: Float64Array[] = start.map((speaker) => {
    return Float64Array.from(
      { length: speakerCount },
      (_, k) => (k === speaker ? 0.95 : 0) + 0.05 / speakerCount,
    )
  })
  const penalty = penaltyScale * penaltyFor(windows.length)
  let priors = new Float64Array(speakerCount).fill(1 / speakerCount)
  let elbo = Number.NEGATIVE_INFINITY
  for (let round = 0; round < MAX_ROUNDS && windows.length > 0; round++) {
    const models = learnGaussians(windows, { posteriors, penalty })
    const scores = windows.map((window) => scoreWindow(window, models))
    const expected = expectation(scores, priors)
    posteriors = expected.posteriors
    priors = expected.priors
    const gain = models.reduce((sum, model) => sum + penalty * model.evidence, 0)
    const next = expected.likelihood + gain
    if (next - elbo < TOLERANCE * Math.abs(next)) break
    elbo = next
  }
  return posteriors
}

/**
 * The posterior of a speaker: its mean, the penalty of its uncertainty in the score of a window,
 * and its part of the evidence lower bound.
 */
type SpeakerGaussian = { mean: Float64Array; cost: number; evidence: number }

function penaltyFor(windows: number): number {
  const growth = Math.max(1, windows / SHORT_RECORDING) ** PENALTY_GROWTH
  return Math.min(MAX_PENALTY, MIN_PENALTY * growth)
}

function learnGaussians(
  windows: readonly Float64Array[],
  { posteriors, penalty }: { posteriors: readonly Float64Array[]; penalty: number },
): SpeakerGaussian[] {
  const ratio = ACOUSTIC_SCALE / penalty
  const dimension = windows[0]!.length
  return Array.from(posteriors[0]!, (_, k) => {
    const sum = new Float64Array(dimension)
    let count = 0
    for (const [t, window] of windows.entries()) {
      const share = posteriors[t]![k]!
      if (share < 1e-6) continue
      count += share
      for (let d = 0; d < dimension; d++) sum[d]! += share * window[d]!
    }
    const variance = 1 / (1 + ratio * BETWEEN_SPEAKER_VARIANCE * count)
    const mean = sum.map((x) => ratio * variance * Math.sqrt(BETWEEN_SPEAKER_VARIANCE) * x)
    const squared = dot(mean, mean)
    return {
      mean,
      cost: 0.5 * BETWEEN_SPEAKER_VARIANCE * (dimension * variance + squared),
      evidence: 0.5 * (dimension * (Math.log(variance) - variance + 1) - squared),
    }
  })
}

/** Returns the log-likelihoods of a window, up to a constant common to all speakers. */
function scoreWindow(window: Float64Array, models: readonly SpeakerGaussian[]): Float64Array {
  return Float64Array.from(models, ({ mean, cost }) => {
    return ACOUSTIC_SCALE * (Math.sqrt(BETWEEN_SPEAKER_VARIANCE) * dot(mean, window) - cost)
  })
}

/**
 * Runs the forward-backward algorithm: the posteriors of the speakers in each window, and how often
 * each speaker begins.
 */
function expectation(scores: readonly Float64Array[], priors: Float64Array) {
  const begin = priors.map((prior) => Math.log(prior + 1e-12))
  const [stay, change] = [Math.log(LOOP_PROBABILITY), Math.log(1 - LOOP_PROBABILITY)]
  const forward: Float64Array[] = []
  for (const [t, score] of scores.entries()) {
    const before = forward[t - 1]
    const changed = before ? logSum(before) + change : 0
    forward.push(
      score.map((x, k) => {
        return x + (before ? logAdd(before[k]! + stay, changed + begin[k]!) : begin[k]!)
      }),
    )
  }
  const likelihood = logSum(forward.at(-1)!)

  const starts = new Float64Array(priors.length)
  const posteriors: Float64Array[] = new Array(scores.length)
  let backward = new Float64Array(priors.length)
  for (let t = scores.length - 1; t >= 0; t--) {
    posteriors[t] = forward[t]!.map((x, k) => Math.exp(x + backward[k]! - likelihood))
    const after = scores[t]!.map((x, k) => x + backward[k]!)
    const before = forward[t - 1]
    const from = before ? logSum(before) + change - likelihood : -likelihood
    for (const [k, x] of after.entries()) starts[k]! += Math.exp(from + begin[k]! + x)
    const changed = logSum(after.map((x, k) => x + begin[k]!)) + change
    backward = after.map((x) => logAdd(x + stay, changed))
  }
  const total = sum(starts)
  return { posteriors, likelihood, priors: starts.map((x) => x / total) }
}

function logAdd(a: number, b: number): number {
  const top = Math.max(a, b)
  return top + Math.log(Math.exp(a - top) + Math.exp(b - top))
}

function logSum(values: Float64Array): number {
  const top = values.reduce((max, x) => Math.max(max, x), Number.NEGATIVE_INFINITY)
  return top + Math.log(values.reduce((sum, x) => sum + Math.exp(x - top), 0))
}
