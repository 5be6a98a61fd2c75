/** Session rows and records. */
import { ApprovalId, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRecord } from '../../core/ports/event-store.ts';

/** The columns of a record. */
export const SELECT_RECORD = `
  SELECT row, owner, id, dialect, domain, agent, title, renamed, first_input, status, approval, archived, ephemeral,
    pinned, tags, labels, message_count, created_at, updated_at, head,
    checkpoints.version AS checkpoint_version, checkpoints.seq AS checkpoint_seq, checkpoints.state AS checkpoint_state
  FROM sessions LEFT JOIN checkpoints ON checkpoints.session = sessions.row`;

/** The client returns BIGINT as text. */
const BigInteger = z.coerce.number();

const Row = z.object({
  row: BigInteger,
  owner: PrincipalId,
  id: SessionId,
  dialect: z.string(),
  domain: z.string(),
  agent: z.string(),
  title: z.string(),
  renamed: z.boolean(),
  first_input: z.string(),
  status: z.enum(['idle', 'running', 'waiting', 'failed']),
  approval: ApprovalId.nullable(),
  archived: z.boolean(),
  ephemeral: z.boolean(),
  pinned: z.boolean(),
  tags: z.array(z.string()),
  labels: z.record(z.string(), z.string()),
  message_count: BigInteger,
  created_at: BigInteger,
  updated_at: BigInteger,
  head: BigInteger,
  checkpoint_version: z.number().nullable(),
  checkpoint_seq: BigInteger.nullable(),
  checkpoint_state: z.string().nullable(),
});

/** Throws if the row was not written by us. */
export function parseRecord(value: unknown): { row: number; record: SessionRecord } {
  const { row, owner, id, first_input, created_at, updated_at, message_count, ...rest } = Row.parse(value);
  const { checkpoint_version: version, checkpoint_seq: seq, checkpoint_state: state, ...shown } = rest;
  const checkpoint = version === null || seq === null || state === null ? null : { version, seq, state };
  return {
    row,
    record: {
      ...shown,
      ref: { owner, id },
      firstInput: first_input,
      messageCount: message_count,
      createdAt: created_at,
      updatedAt: updated_at,
      checkpoint,
    },
  };
}
