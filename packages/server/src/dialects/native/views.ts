/** Sessions and approvals as the API shows them. */
import type { SessionRecord, SessionSnapshot } from '../../core/api/index.ts';
import type { ConnectionRegistry } from '../shared/connection-registry.ts';

export const sessionView =
  (connections: ConnectionRegistry) =>
  ({
    ref,
    dialect,
    domain,
    agent,
    title,
    status,
    archived,
    pinned,
    tags,
    ephemeral,
    messageCount,
    createdAt,
    updatedAt,
    head,
  }: SessionRecord) => ({
    id: ref.id,
    owner: ref.owner,
    dialect,
    domain,
    agent,
    title,
    status,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    head,
    archived,
    ...(pinned && { pinned }),
    ...(tags.length > 0 && { tags }),
    ...(ephemeral && { ephemeral }),
    messageCount,
    // The former name.
    said: messageCount,
    attached: connections.of(ref),
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
}: SessionSnapshot) => ({
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
) => ({
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
