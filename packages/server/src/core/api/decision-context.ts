/** From a command and its sender to what a decision needs to know. */
import { type AgentRef, type Command, type ConnectionId, Fault, type Principal } from '@parlance/protocol';
import type { AgentCatalog } from '../domain/agent-catalog.ts';
import type { Decided, DecisionContext } from '../domain/decision.ts';
import type { Provider } from '../ports/provider.ts';
import type { LiveSession } from '../runtime/live-session.ts';
import { streamedSoFar } from '../runtime/open-block.ts';

/** Who sends a command, and through what. */
export type Caller = {
  readonly principal: Principal;
  readonly dialect: string;
  readonly via?: ConnectionId;
  /** sent twice with the same key, an input is taken once */
  readonly key?: string;
};

type Around = Pick<DecisionContext, 'mostQueued' | 'replaced' | 'approvalKnown' | 'newId'> & {
  readonly catalog: AgentCatalog;
  readonly now: () => number;
};

/** Throws `not_found` where the command names an agent or a domain that is not there. */
export function decisionContext(
  session: LiveSession,
  command: Decided,
  caller: Caller,
  around: Around,
): DecisionContext {
  const { catalog, now, mostQueued, replaced, approvalKnown, newId } = around;
  const placed = command.type === 'session.create' || command.type === 'input.submit';
  const chosen = placed || command.type === 'session.configure' ? command.agent : undefined;
  const domain = (placed && command.domain) || session.state.created?.domain || catalog.defaultDomain;
  const { dialect, via, key } = caller;
  return {
    by: caller.principal.id,
    dialect,
    via,
    key,
    domain,
    agent: catalog.first(domain, chosen),
    answeredBy: answering(command, catalog),
    // Seldom needed, and as long as the answer.
    get open() {
      return streamedSoFar(session.open, now);
    },
    replaced,
    approvalKnown,
    mostQueued,
    newId,
  };
}

function answering(command: Decided, catalog: AgentCatalog): AgentRef | undefined {
  if (command.type !== 'input.submit' || command.answeredBy === undefined) return undefined;
  const { id, name } = catalog.agent(command.answeredBy);
  return { id, name };
}

/** The input that the command takes the place of, where the model still sees it. */
export async function replacedBy(
  session: LiveSession,
  command: Decided,
): Promise<DecisionContext['replaced']> {
  if (command.type !== 'input.submit' || !command.replaces) return null;
  const turn = (await session.context()).turns.find(({ id }) => id === command.replaces);
  return turn ? { input: turn.id, seq: turn.input } : null;
}

/** Throws `invalid` where a session cannot have what it asks for. */
export function checkConfiguration(
  { model, approval }: Extract<Command, { type: 'session.configure' }>,
  { providerFor, allowsFullAuto }: { providerFor?: (model: string) => Provider; allowsFullAuto?: boolean },
): void {
  if (approval === 'full-auto' && !allowsFullAuto)
    throw new Fault('invalid', 'full-auto needs a sandbox (bubblewrap), and there is none on this machine.');
  if (typeof model !== 'string') return;
  if (!providerFor) throw new Fault('invalid', 'Other models are not available here.');
  providerFor(model);
}
