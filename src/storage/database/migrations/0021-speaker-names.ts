/**
 * Searches show the names of speakers, and skip jobs that lack a speaker or a language by an index.
 * Corrected jobs are indexed again, with the names.
 */
export const statements = [
  `alter table utterances add column speaker_name text`,
  `create index utterances_by_speaker on utterances (job_id, speaker, language)`,
  `insert into search_queue select distinct job_id from transcript_edits where true
    on conflict do nothing`,
]
