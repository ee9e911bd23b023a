const POINTS =
  /\b(?:decid\w*|decision|agree(?:d|ment)|deadlines?|due|must|need to|have to|plan(?:s|ned)? to|going to|will be|important(?:ly)?|problems?|issues?|because|therefore|result(?:s|ed)?|conclu\w*|so we|in total|cost\w*|budget|price|action items?|next steps?|the main|the point|refund\w*|order(?:ed)?|contract)\b/i
const NUMBERS =
  /\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|percent|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|april|june|july|august|september|october|november|december)\b/i
const GREETINGS =
  /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|night|day)|welcome|thank|thanks|bye|goodbye|see you|take care|have a (?:nice|good|great)|you're welcome|talk to you|how are you|my pleasure|how can i help|is there anything else|nice to (?:meet|see|talk)|sorry)\b|\b(?:goodbye|bye|take care|see you (?:later|soon|then|tomorrow)|have a (?:nice|good|great) (?:day|one|evening|weekend|night|afternoon)|thanks? (?:you )?(?:so much )?for (?:calling|listening|watching|coming|joining|your time|having me))\b/i

const ANNOUNCEMENTS =
  /^\W*(?:(?:so|okay|now|well|then|all right)\W+)*(?:let us|let's|let me|anyway|moving on|(?:the|our) (?:first|second|third|next|last) (?:topic|point|item|question)|i(?:'d| would) like to (?:start|begin|talk))\b/i

/**
 * Returns a weight for the importance of an English sentence: 1.35 for words of decisions and
 * reasons, and again for dates and amounts; 0.6 if it only announces a topic; 0.3 for questions and
 * greetings.
 */
export function cueWeight(text: string): number {
  if (isGreeting(text) || /\?[^\p{L}?]*$/u.test(text)) return 0.3
  if (announcesTopic(text)) return 0.6
  return (POINTS.test(text) ? 1.35 : 1) * (NUMBERS.test(text) ? 1.35 : 1)
}

/** Returns whether an English sentence announces what comes next. */
export function announcesTopic(text: string): boolean {
  return ANNOUNCEMENTS.test(text)
}

/** Returns whether an English sentence only opens or closes a conversation. */
export function isGreeting(text: string): boolean {
  return GREETINGS.test(text)
}
