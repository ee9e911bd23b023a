import { testSamples } from '../../support/samples/run-samples.ts'

/** The samples of the pages of docs/ from A to L run. */
testSamples((page) => /^docs\/[a-l][^/]*$/.test(page))
