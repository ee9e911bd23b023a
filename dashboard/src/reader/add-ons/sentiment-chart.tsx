import type { JSX } from 'preact'
import type { ApiSentenceSentiment } from '../../../../src/cli/client/api-types.ts'
import { formatTime } from '../../components/format.ts'
import { texts } from '../../texts.ts'

const t = texts.reader
/** Maximum bars that remain distinct on the screen of a phone. */
const BARS = 40
const [WIDTH, HEIGHT] = [400, 80]
const MIDDLE = HEIGHT / 2

type ChartProps = {
  sentences: readonly ApiSentenceSentiment[]
  seconds: number
  play: (seconds: number) => void
}

/**
 * Shows the sentiment over the recording: positive sentences above the line, negative ones below.
 */
export function SentimentChart({ sentences, seconds, play }: ChartProps): JSX.Element | null {
  const bars = countByTime(sentences, seconds)
  const most = Math.max(...bars.map(({ positive, negative }) => Math.max(positive, negative)))
  if (most === 0) return null
  const total = (name: string) => sentences.filter(({ sentiment }) => sentiment === name).length
  const step = WIDTH / BARS
  const high = (count: number) => (count / most) * (MIDDLE - 2)
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the sentences below play the same. */}
      <svg
        class="chart sentiments"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={t.sentimentChart(total('positive'), total('negative'), sentences.length)}
        onClick={({ clientX, currentTarget }) => {
          const { left, width } = currentTarget.getBoundingClientRect()
          play(((clientX - left) / width) * seconds)
        }}
      >
        <line x1={0} x2={WIDTH} y1={MIDDLE} y2={MIDDLE} />
        {bars.map(({ positive, negative }, i) => (
          <g key={i}>
            <rect
              class="good"
              x={i * step + 1}
              width={step - 2}
              y={MIDDLE - high(positive)}
              height={high(positive)}
            />
            <rect
              class="bad"
              x={i * step + 1}
              width={step - 2}
              y={MIDDLE}
              height={high(negative)}
            />
          </g>
        ))}
      </svg>
      <p class="axis hint" aria-hidden="true">
        <span>0:00</span>
        <span>{formatTime(seconds)}</span>
      </p>
    </>
  )
}

function countByTime(sentences: readonly ApiSentenceSentiment[], seconds: number) {
  const bars = Array.from({ length: BARS }, () => ({ positive: 0, negative: 0 }))
  for (const { sentiment, start, end } of sentences) {
    const at = Math.floor(((start + end) / 2 / Math.max(seconds, 1)) * BARS)
    const bar = bars[Math.min(BARS - 1, Math.max(0, at))]!
    if (sentiment === 'positive' || sentiment === 'mixed') bar.positive++
    if (sentiment === 'negative' || sentiment === 'mixed') bar.negative++
  }
  return bars
}
