/** Sessions and approvals as the API shows them. */
import type { Approval, Session, SessionNow } from '@parlance/protocol/api';
import type { SessionRecord, SessionSnapshot } from '../../core/index.ts';
import type { Sent } from '../kit/endpoint.ts';

/** `attached`: the number of connections by dialect. */
export const sessionView = (
  { ref, dialect, domain, agent, title, status, archived, pinned, tags, ephemeral, ...record }: SessionRecord,
  attached: Session['attached'],
): Session => ({
  id: ref.id,
  owner: ref.owner,
  dialect,
  domain,
  agent,
  title,
  status,
  createdAt: new Date(record.createdAt).toISOString(),
  updatedAt: new Date(record.updatedAt).toISOString(),
  head: record.head,
  archived,
  ...(pinned && { pinned }),
  ...(tags.length > 0 && { tags: [...tags] }),
  ...(ephemeral && { ephemeral }),
  messageCount: record.messageCount,
  ...(record.lastModel && { lastModel: record.lastModel }),
  attached,
  metadata: { dialect },
});

export const nowView = ({
  seq,
  turn,
  queued,
  approval,
  open,
  agent,
  model,
  approvalMode,
}: SessionSnapshot): Sent<SessionNow> => ({
  seq,
  turn,
  queued,
  approval,
  open,
  agent,
  model,
  approvalMode,
});

export const approvalView = (
  { ref }: SessionSnapshot,
  pending: NonNullable<SessionSnapshot['approval']>,
): Sent<Approval> => ({
  id: pending.approval,
  session: ref.id,
  owner: ref.owner,
  turn: pending.turn,
  call: pending.call,
  tool: pending.tool,
  input: pending.input,
  ask: pending.ask,
  hash: pending.hash,
});

export const driverView = (node: string | null) => (node === null ? null : { node });
