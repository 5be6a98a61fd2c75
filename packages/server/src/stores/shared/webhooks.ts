/** Addresses to which the updates of turns are sent: the table and its statements, for both databases. */

import { PrincipalId, SessionId, TurnId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRef, Webhook, WebhookProgress, WebhookStore } from '../../core/ports/event-store.ts';
import { Integer, json, type SharedDatabase, selectSession } from './database.ts';
import type { ColumnTypes } from './schema.ts';
import { storable } from './text.ts';

/** Part of a migration of each database: never change it. */
export const webhookTable = ({
  key,
  integer,
  session,
  options,
}: Omit<ColumnTypes, 'flag' | 'is' | 'not'>): string => `
  CREATE TABLE webhooks (
    session ${session},
    turn ${key} NOT NULL,
    id ${key} NOT NULL,
    owner ${key} NOT NULL,
    -- JSON
    target TEXT NOT NULL,
    created_at ${integer} NOT NULL,
    sent ${integer} NOT NULL,
    failures ${integer} NOT NULL,
    -- null: nothing is left to send
    due ${integer},
    -- empty: no node is sending
    node ${key} NOT NULL,
    PRIMARY KEY (session, turn, id)
  )${options};
  CREATE INDEX webhooks_by_due ON webhooks (due) WHERE due IS NOT NULL;
  CREATE INDEX webhooks_by_owner ON webhooks (owner) WHERE due IS NOT NULL;`;

const Row = z.object({
  owner: PrincipalId,
  session: SessionId,
  turn: TurnId,
  id: z.string(),
  target: json(z.record(z.string(), z.json())),
  createdAt: Integer,
});
const webhookOf = ({ owner, session, ...webhook }: z.output<typeof Row>): Webhook => ({
  ...webhook,
  ref: { owner, id: session },
});
const WebhookRow = Row.transform(webhookOf);
const TakenRow = Row.extend({ sent: Integer, failures: Integer, due: Integer }).transform(
  ({ sent, failures, due, ...row }): Webhook & WebhookProgress => ({
    ...webhookOf(row),
    sent,
    failures,
    due,
  }),
);

const COLUMNS = `
  sessions.owner, sessions.id AS session, webhooks.turn, webhooks.id, target, webhooks.created_at AS "createdAt"`;
const JOINED = 'webhooks JOIN sessions ON sessions.row = webhooks.session';

export const webhookQueries = ({ query, atomically, dialect }: SharedDatabase): WebhookStore => {
  const rowOf = async (ref: SessionRef): Promise<unknown> => {
    const [session] = await query(...selectSession(dialect, ref));
    return session?.row;
  };
  const read = async (ref: SessionRef, turn: TurnId, id?: string): Promise<Webhook[]> => {
    const row = await rowOf(ref);
    if (row === undefined) return [];
    const rows = await query(
      `SELECT ${COLUMNS} FROM ${JOINED} WHERE webhooks.session = $1 AND webhooks.turn = $2
       ${id === undefined ? '' : 'AND webhooks.id = $3'} ORDER BY webhooks.created_at, webhooks.id`,
      [row, storable(turn), ...(id === undefined ? [] : [storable(id)])],
    );
    return rows.map((found) => WebhookRow.parse(found));
  };
  return {
    put: ({ ref, turn, id, target, createdAt, sent, failures, due }, max) =>
      atomically(function* () {
        const [select, key] = selectSession(dialect, ref);
        // Locks the session, so that it is not erased and nobody else adds a webhook between count and insert.
        const [session] = yield [`${select} ${dialect.lock}`, key];
        if (!session) return 'no_session';
        const [own, one] = [storable(turn), storable(id)];
        const [ofTurn] = yield [
          'SELECT count(*) AS others FROM webhooks WHERE session = $1 AND turn = $2 AND id <> $3',
          [session.row, own, one],
        ];
        const [ofOwner] = yield [
          `SELECT count(*) AS others FROM webhooks
           WHERE owner = $1 AND due IS NOT NULL AND NOT (session = $2 AND turn = $3 AND id = $4)`,
          [storable(ref.owner), session.row, own, one],
        ];
        if (Number(ofTurn?.others) >= max.turn || Number(ofOwner?.others) >= max.owner) return 'too_many';
        yield [
          `INSERT INTO webhooks (session, turn, id, owner, target, created_at, sent, failures, due, node)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '')
           ON CONFLICT (session, turn, id) DO UPDATE SET target = excluded.target, created_at = excluded.created_at,
             sent = excluded.sent, failures = excluded.failures, due = excluded.due, node = ''`,
          [
            session.row,
            own,
            one,
            storable(ref.owner),
            JSON.stringify(target),
            createdAt,
            sent,
            failures,
            due,
          ],
        ];
        return 'stored';
      }),
    find: async (ref, turn, id) => (await read(ref, turn, id))[0] ?? null,
    list: (ref, turn) => read(ref, turn),
    async remove(ref, turn, id) {
      const row = await rowOf(ref);
      if (row === undefined) return false;
      const removed = await query(
        'DELETE FROM webhooks WHERE session = $1 AND turn = $2 AND id = $3 RETURNING 1 AS one',
        [row, storable(turn), storable(id)],
      );
      return removed.length > 0;
    },
    take: (node, { alive, now, limit }) =>
      atomically(function* () {
        const nodes = alive.map((_, index) => `$${index + 3}`).join(', ');
        const isFree = `((node = '' AND due <= $1) OR node NOT IN ('', ${nodes === '' ? "''" : nodes}))`;
        const due = yield [
          `SELECT session, turn, id FROM webhooks WHERE due IS NOT NULL AND ${isFree} ORDER BY due LIMIT $2 ${dialect.lock}`,
          [now, limit, ...alive],
        ];
        const taken: (Webhook & WebhookProgress)[] = [];
        for (const { session, turn, id } of due) {
          const key = [session, turn, id];
          yield [
            'UPDATE webhooks SET node = $4 WHERE session = $1 AND turn = $2 AND id = $3 RETURNING 1 AS one',
            [...key, node],
          ];
          const [row] = yield [
            `SELECT ${COLUMNS}, sent, failures, due FROM ${JOINED}
             WHERE webhooks.session = $1 AND webhooks.turn = $2 AND webhooks.id = $3`,
            key,
          ];
          if (row) taken.push(TakenRow.parse(row));
        }
        return taken;
      }),
    async update(node, { ref, turn, id, createdAt }, { sent, failures, due, release }) {
      const row = await rowOf(ref);
      if (row === undefined) return false;
      const updated = await query(
        `UPDATE webhooks SET sent = $6, failures = $7, due = $8, node = $9
         WHERE session = $1 AND turn = $2 AND id = $3 AND created_at = $4 AND node = $5 RETURNING 1 AS one`,
        [row, storable(turn), storable(id), createdAt, node, sent, failures, due, release ? '' : node],
      );
      return updated.length > 0;
    },
    async nextDue() {
      const [row] = await query("SELECT min(due) AS due FROM webhooks WHERE due IS NOT NULL AND node = ''");
      return row?.due == null ? null : Number(row.due);
    },
  };
};
