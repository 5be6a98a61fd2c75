/**
 * The statement that writes a group of appends. It is one transaction, with one round trip and one flush for
 * all: expected number, fencing epoch, lease, events and record of each session. A refused append has no
 * `row` in the result and does not affect the others.
 *
 * Rows are locked in the order of the writes, which are sorted, and new sessions are inserted in order after
 * that, so that groups of several nodes cannot deadlock. LATERAL and ANY keep the planner, which does not
 * know how few writes there are, from reading all sessions.
 */

/** Columns of a record, with the same names in the statement and in the table. */
const RECORD = [
  'dialect',
  'domain',
  'agent',
  'title',
  'renamed',
  'first_input',
  'status',
  'approval',
  'archived',
  'ephemeral',
  'pinned',
  'tags',
  'labels',
  'message_count',
  'created_at',
  'updated_at',
  'head',
] as const;

/** Parameters: $1 writes as JSON, $2–$5 events, $6–$8 lookup keys, $9 node, $10 home, $11 able, $12 may depose. */
export const APPEND = `
WITH write AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($1::text::jsonb) AS write (
    n INT, bucket SMALLINT, owner TEXT, id TEXT, expected BIGINT, epoch BIGINT, take TEXT,
    dialect TEXT, domain TEXT, agent TEXT, title TEXT, renamed BOOLEAN, first_input TEXT, status TEXT, approval TEXT,
    archived BOOLEAN, ephemeral BOOLEAN, pinned BOOLEAN, tags JSONB, labels JSONB, message_count BIGINT, created_at BIGINT, updated_at BIGINT, head BIGINT,
    checkpoint_action TEXT, checkpoint_version INT, checkpoint_seq BIGINT, checkpoint_state TEXT)
), held AS MATERIALIZED (
  SELECT write.n, session.row, session.head, session.epoch, session.driver, session.created_at,
    $11::boolean AND (session.home IS NULL OR session.home = $10::text) AS able,
    write.status = 'running' AND session.driver IS DISTINCT FROM $9::text AND (
      write.take = 'always' OR write.take = 'if-free' AND (
        session.driver IS NULL OR $12::boolean
          AND NOT EXISTS (SELECT 1 FROM nodes WHERE nodes.id = session.driver AND nodes.until > now())
      )
    ) AS takes
  FROM write CROSS JOIN LATERAL (
    SELECT row, head, epoch, driver, created_at, home FROM sessions
    WHERE sessions.bucket = write.bucket AND sessions.owner = write.owner AND sessions.id = write.id
    FOR UPDATE
  ) AS session
), updated AS (
  UPDATE sessions SET
    ${RECORD.map((column) => `${column} = write.${column}`).join(', ')},
    epoch = CASE WHEN held.takes AND (held.able OR write.take = 'always') THEN nextval('epochs') ELSE sessions.epoch END,
    driver = CASE
      WHEN write.status <> 'running' THEN NULL
      WHEN held.takes AND held.able THEN $9
      WHEN held.takes AND write.take = 'always' THEN NULL
      ELSE sessions.driver
    END
  FROM write JOIN held ON held.n = write.n
  WHERE sessions.row = held.row AND held.head = write.expected AND held.created_at = write.created_at
    AND (write.epoch IS NULL OR held.epoch = write.epoch AND held.driver = $9)
  RETURNING write.n, write.bucket, sessions.row, sessions.epoch, sessions.driver
), inserted AS (
  INSERT INTO sessions (bucket, owner, id, home, epoch, driver, ${RECORD.join(', ')})
  SELECT bucket, owner, id, $10,
    CASE WHEN $11 AND status = 'running' AND take <> 'never' THEN nextval('epochs') ELSE 0 END,
    CASE WHEN $11 AND status = 'running' AND take <> 'never' THEN $9 END,
    ${RECORD.join(', ')}
  FROM write
  WHERE expected = 0 AND epoch IS NULL AND NOT EXISTS (SELECT 1 FROM held WHERE held.n = write.n)
  ORDER BY bucket, owner, id
  ON CONFLICT (bucket, owner, id) DO NOTHING
  RETURNING bucket, owner, id, row, epoch, driver
), written AS MATERIALIZED (
  SELECT n, bucket, row, epoch, driver FROM updated
  UNION ALL
  SELECT write.n, inserted.bucket, inserted.row, inserted.epoch, inserted.driver FROM inserted JOIN write
    ON write.bucket = inserted.bucket AND write.owner = inserted.owner AND write.id = inserted.id
), new_events AS (
  INSERT INTO events (bucket, session, seq, version, body)
  SELECT written.bucket, written.row, event.seq, event.version, event.body
  FROM unnest($2::int[], $3::bigint[], $4::int[], $5::text[]) AS event (n, seq, version, body)
    JOIN written ON written.n = event.n
), new_lookups AS (
  INSERT INTO lookups (kind, id, session)
  SELECT DISTINCT key.kind, key.id, written.row
  FROM unnest($6::int[], $7::text[], $8::text[]) AS key (n, kind, id) JOIN written ON written.n = key.n
  ON CONFLICT DO NOTHING
), new_checkpoints AS (
  INSERT INTO checkpoints (session, version, seq, state)
  SELECT written.row, write.checkpoint_version, write.checkpoint_seq, write.checkpoint_state
  FROM write JOIN written ON written.n = write.n WHERE write.checkpoint_action = 'put'
  ON CONFLICT (session) DO UPDATE SET version = excluded.version, seq = excluded.seq, state = excluded.state
), no_checkpoints AS (
  DELETE FROM checkpoints WHERE session = ANY (ARRAY(
    SELECT written.row FROM write JOIN written ON written.n = write.n WHERE write.checkpoint_action = 'remove'
  ))
)
SELECT write.n, written.row, written.epoch, written.driver, held.head AS held_head
FROM write LEFT JOIN written ON written.n = write.n LEFT JOIN held ON held.n = write.n`;
