const NOW = `cast(unixepoch('subsec') * 1000 as integer)`

/** Returns the statement that records what happened to a job. */
function note(row: 'new' | 'old', status: string): string {
  return `insert into events (tx, account, kind, job_id, status, at)
    values (0, ${row}.account, ${row}.kind, ${row}.id, ${status}, ${NOW});`
}

/**
 * What happened to jobs and deliveries, in order, for readers that wait for it. Triggers record it,
 * so an event is written in the transaction of the change, whichever statement makes it.
 */
export const statements = [
  `create table events (
    seq integer primary key autoincrement,
    tx integer not null,
    account text not null,
    kind text not null,
    job_id text,
    delivery_id text,
    status text not null,
    at integer not null
  )`,
  `create index events_in_order on events (tx, seq)`,
  `create index events_by_age on events (at)`,
  `create trigger event_of_new_job after insert on jobs begin ${note('new', 'new.status')} end`,
  `create trigger event_of_job after update of status on jobs when new.status <> old.status
    begin ${note('new', 'new.status')} end`,
  `create trigger event_of_old_job after delete on jobs begin ${note('old', `'deleted'`)} end`,
  `create trigger event_of_delivery after update of state on deliveries
    when new.state <> old.state and new.state in ('delivered', 'failed')
    begin insert into events (tx, account, kind, job_id, delivery_id, status, at)
      values (0, new.account, 'delivery', new.job_id, new.id, new.state, ${NOW}); end`,
]
