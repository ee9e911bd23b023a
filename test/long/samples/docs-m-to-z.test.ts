import { testSamples } from '../../support/samples/run-samples.ts'

/** The samples of the pages of docs/ from M to Z run. */
testSamples((page) => /^docs\/[m-z][^/]*$/.test(page))
