/** The server, sessions and approvals as the API shows them. */
import type { Principal } from '@parlance/protocol';
import type * as api from '@parlance/protocol/api';
import type { Agent, Engine, OpenQuestion, SessionRecord, SessionSnapshot } from '../../core/index.ts';
import { namesOfChain } from '../../lib/model-chain.ts';
import type { About } from '../kit/administration.ts';
import type { Sent } from '../kit/endpoint.ts';

export const timeView = (at: number): string => new Date(at).toISOString();

export const timeOrNull = (at: number | null): string | null => (at === null ? null : timeView(at));

const pick = <Value, Key extends keyof Value>(value: Value, ...keys: readonly Key[]) =>
  Object.fromEntries(keys.map((key) => [key, value[key]])) as Pick<Value, Key>;

/** `attached`: the number of connections by dialect. */
export const sessionView = (record: SessionRecord, attached: api.Session['attached']): api.Session => ({
  id: record.ref.id,
  owner: record.ref.owner,
  ...pick(record, 'dialect', 'domain', 'agent', 'title', 'status'),
  ...(record.status === 'waiting' && { waitsFor: record.pending === null ? 'work' : 'answer' }),
  createdAt: timeView(record.createdAt),
  updatedAt: timeView(record.updatedAt),
  ...pick(record, 'head', 'archived'),
  ...(record.pinned && { pinned: true }),
  ...(record.tags.length > 0 && { tags: [...record.tags] }),
  ...(record.ephemeral && { ephemeral: true }),
  ...(record.parent && { parent: record.parent }),
  messageCount: record.messageCount,
  ...(record.lastModel && { lastModel: record.lastModel }),
  attached,
  metadata: { dialect: record.dialect },
});

export const nowView = (now: SessionSnapshot): Sent<api.SessionNow> =>
  pick(now, 'seq', 'turn', 'queued', 'approval', 'open', 'agent', 'model', 'approvalMode');

export const approvalView = (
  { ref }: SessionSnapshot,
  pending: NonNullable<SessionSnapshot['approval']>,
): Sent<api.Approval> => ({
  id: pending.approval,
  session: ref.id,
  owner: ref.owner,
  ...pick(pending, 'turn', 'call', 'tool', 'input', 'ask', 'hash'),
});

export const questionView = ({
  data: _data,
  resume: _resume,
  seq: _seq,
  at: _at,
  ...shown
}: OpenQuestion): NonNullable<Sent<api.Snapshot>['questions']>[number] => shown;

export function pendingView({ ref }: SessionSnapshot, asked: OpenQuestion): Sent<api.PendingQuestion> {
  const { question, ...shown } = questionView(asked);
  return { id: question, session: ref.id, owner: ref.owner, ...shown };
}

export function aboutView(about: About, { catalog }: Engine, principal: Principal): Sent<api.About> {
  const { domains, agents } = catalog.listed;
  const named = agents.flatMap(({ model }) => (model === undefined ? [] : namesOfChain(model)));
  return {
    ...pick(about, 'version', 'auth', 'provider', 'model', 'vendors', 'approval', 'sandbox', 'dialects'),
    principal,
    models: [...new Set([about.model, ...named, 'offline'])].flatMap((id) => {
      const provider = id === about.model ? about.provider : about.providerOf(id);
      return provider === null ? [] : [{ id, provider }];
    }),
    listeners: about.listeners(),
    // The dialect of the channels adds what it has to say.
    ...(about.additions() as Pick<api.About, 'channels'>),
    defaultDomain: catalog.defaultDomain,
    domains: domains.map((domain) => pick(domain, 'id', 'name', 'description', 'defaultAgent', 'agents')),
    agents: agents.map(agentView),
  };
}

export const agentView = (agent: Agent) => ({
  ...pick(agent, 'id', 'name', 'description'),
  model: agent.model ?? null,
  tools: agent.tools ?? null,
  starters: agent.starters ?? [],
});
