/**
 * The index of utterances for searches. A queue contains the finished jobs whose words are not
 * indexed yet, and the deleted ones whose words still are; triggers fill it. Erasing words from the
 * index takes a millisecond for each utterance, which is too long for the transaction that deletes
 * the job. `owner` is a term, too, so that a search reads only the words of one account.
 */
export const statements = [
  `create table search_queue (job_id text not null primary key) without rowid`,
  `insert into search_queue select id from jobs where status = 'done'`,
  `create table search_languages (
    account text not null,
    language text not null,
    primary key (account, language)
  ) without rowid`,
  `create table utterances (
    id integer primary key,
    job_id text not null,
    n integer not null,
    start real not null,
    "end" real not null,
    channel integer not null,
    speaker integer,
    language text not null,
    text text not null,
    owner text not null,
    terms text not null,
    unique (job_id, n)
  )`,
  `create virtual table utterance_terms using fts5 (
    owner, terms, content = utterances, content_rowid = id, columnsize = 0, detail = full,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
  )`,
  // With this setting, nothing of a deleted word stays in the pages of the index.
  `insert into utterance_terms (utterance_terms, rank) values ('secure-delete', 1)`,
  `create trigger index_utterance after insert on utterances begin
    insert into utterance_terms (rowid, owner, terms) values (new.id, new.owner, new.terms);
  end`,
  `create trigger unindex_utterance after delete on utterances begin
    insert into utterance_terms (utterance_terms, rowid, owner, terms)
      values ('delete', old.id, old.owner, old.terms);
  end`,
  `create trigger search_new_job after insert on jobs when new.status = 'done' begin
    insert into search_queue values (new.id) on conflict do nothing;
  end`,
  `create trigger search_done_job after update of status on jobs
    when new.status = 'done' and old.status <> 'done' begin
    insert into search_queue values (new.id) on conflict do nothing;
  end`,
  `create trigger search_old_job after delete on jobs begin
    insert into search_queue select old.id where exists
      (select 1 from utterances where job_id = old.id) on conflict do nothing;
    delete from search_queue where job_id = old.id and not exists
      (select 1 from utterances where job_id = old.id);
  end`,
]
