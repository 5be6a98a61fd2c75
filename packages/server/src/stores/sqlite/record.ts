/** Session rows and records. */
import { ApprovalId, PrincipalId, SessionId } from '@parlance/protocol';
import { z } from 'zod';
import type { SessionRecord } from '../../core/ports/event-store.ts';

/** The columns of a record. */
export const SELECT_RECORD = `
  SELECT row, owner, id, dialect, domain, agent, title, renamed, first_input, status, approval, archived, ephemeral, pinned, tags, labels,
    message_count, created_at, updated_at, head,
    checkpoints.version AS checkpoint_version, checkpoints.seq AS checkpoint_seq, checkpoints.state AS checkpoint_state
  FROM sessions LEFT JOIN checkpoints ON checkpoints.session = sessions.row`;

const Row = z.object({
  row: z.number(),
  owner: PrincipalId,
  id: SessionId,
  dialect: z.string(),
  domain: z.string(),
  agent: z.string(),
  title: z.string(),
  renamed: z.number(),
  first_input: z.string(),
  status: z.enum(['idle', 'running', 'waiting', 'failed']),
  approval: ApprovalId.nullable(),
  archived: z.number(),
  ephemeral: z.number(),
  pinned: z.number(),
  tags: z.string(),
  labels: z.string(),
  message_count: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
  head: z.number(),
  checkpoint_version: z.number().nullable(),
  checkpoint_seq: z.number().nullable(),
  checkpoint_state: z.string().nullable(),
});

const Tags = z.array(z.string());
const Labels = z.record(z.string(), z.string());

/** Throws if the row was not written by us. */
export function parseRecord(value: unknown): { row: number; record: SessionRecord } {
  const {
    row,
    owner,
    id,
    archived,
    ephemeral,
    pinned,
    tags,
    labels,
    renamed,
    first_input,
    created_at,
    updated_at,
    message_count,
    ...rest
  } = Row.parse(value);
  const { checkpoint_version: version, checkpoint_seq: seq, checkpoint_state: state, ...shown } = rest;
  const checkpoint = version === null || seq === null || state === null ? null : { version, seq, state };
  return {
    row,
    record: {
      ...shown,
      ref: { owner, id },
      renamed: renamed !== 0,
      firstInput: first_input,
      archived: archived !== 0,
      ephemeral: ephemeral !== 0,
      pinned: pinned !== 0,
      tags: Tags.parse(JSON.parse(tags)),
      labels: Labels.parse(JSON.parse(labels)),
      messageCount: message_count,
      createdAt: created_at,
      updatedAt: updated_at,
      checkpoint,
    },
  };
}
