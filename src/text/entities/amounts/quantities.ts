/** Number words, in patterns: "three hundred and twelve", "12", "4.5 million", "a hundred". */
const word =
  '(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|trillion)'
const magnitude = '(?:hundred|thousand|million|billion|trillion)'

/**
 * The source of a pattern for an amount, without capturing groups. It matches at most twelve words:
 * without a limit, the match would be tried from each word, in quadratic time.
 */
export const amount = `(?:(?:\\d{1,15}(?:,\\d{3}){0,5}(?:\\.\\d+)?(?:[ -]${magnitude})?|(?:a |half a )?${word}(?:(?:[ -]| and | point )${word}){0,11})(?: and a half)?)`
