/**
 * Limits of requests: generous for people, small for machines. Texts are counted in
 * UTF-16 code units. Limits that an operator can set are in `config.ts`.
 */

/**
 * The longest word, name or short phrase. It is compared with the whole transcript, and results
 * contain it.
 */
export const MAX_TERM_CHARS = 300

/** Maximum pronunciations of one entry of a vocabulary; each is compared separately. */
export const MAX_PRONUNCIATIONS = 20

/**
 * Maximum pronunciations of all entries of a vocabulary: two for each entry of the largest
 * vocabulary.
 */
export const MAX_ALL_PRONUNCIATIONS = 20_000

/** Maximum words of a spelling dictionary: as many as the entries of the largest vocabulary. */
export const MAX_SPELLINGS = 10_000

/** Maximum recognized variants of one word of a spelling dictionary. */
export const MAX_VARIANTS = 100

/**
 * Maximum variants in a whole spelling dictionary: two for each word of the largest dictionary.
 */
export const MAX_ALL_VARIANTS = 20_000

/** The longest prompt, part of a prompt, or context of a translation: about ten pages. */
export const MAX_PROMPT_CHARS = 20_000

/** Maximum parts of one prompt. */
export const MAX_PROMPT_PARTS = 50

/** Maximum languages of a request: all that exist, some with several regions. */
export const MAX_LANGUAGES = 200

/** Maximum entity types of a request: enough for all types of personal data and all groups. */
export const MAX_ENTITY_TYPES = 100

/**
 * Maximum subtitle formats of a request. There are two, but some clients repeat one several times.
 */
export const MAX_FORMATS = 10

/** Maximum kinds of facts to extract. */
export const MAX_CLASSES = 100

/** The longest id, or name of a model or an event. */
export const MAX_NAME_CHARS = 200

/**
 * The longest URL. Servers refuse longer ones, and the URL of a callback is stored with each of the
 * thousands of messages of a live session.
 */
export const MAX_URL_CHARS = 8192

/** The longest date-time. A date with a time, fractions and a time zone has 35 characters. */
export const MAX_DATE_TIME_CHARS = 64

/** Maximum values of one query parameter; the filters of lists have fewer choices. */
export const MAX_QUERY_VALUES = 100

/** Maximum keys of the metadata of a session; the size of its values is limited in bytes. */
export const MAX_METADATA_KEYS = 10_000

/** The longest key of metadata, which is a name, not a text. */
export const MAX_METADATA_KEY_CHARS = 1000

/** The longest `Idempotency-Key`; a UUID has 36 characters. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255

/** Maximum corrections in one request; a page of a transcript has fewer words. */
export const MAX_EDIT_OPERATIONS = 500

/** The longest text of a correction: more than any utterance. */
export const MAX_EDIT_CHARS = 20_000

/** Maximum bytes of all corrections of one request, as JSON. */
export const MAX_EDIT_BYTES = 1_000_000

/**
 * The greatest index or version in a correction: no transcript has so many utterances, words or
 * versions.
 */
export const MAX_EDIT_INDEX = 10_000_000

/** The greatest number of a speaker, including speakers that people add. */
export const MAX_EDIT_SPEAKER = 999

/** The longest name of a speaker: files show it before the words, in one row of a subtitle. */
export const MAX_SPEAKER_NAME_CHARS = 80

/** Maximum versions of a transcript in one list. */
export const MAX_EDIT_VERSIONS = 10_000
