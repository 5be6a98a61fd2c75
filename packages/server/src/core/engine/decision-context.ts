/** Collects the data that a decision needs in addition to the state. */
import {
  type AgentRef,
  type Command,
  type ConnectionId,
  Fault,
  type InputId,
  type Principal,
  type TurnId,
} from '@parlance/protocol';
import type { AgentCatalog } from '../session/agent-catalog.ts';
import { type DecidableCommand, type DecisionContext, mayEndTurn } from '../session/decide.ts';

import { openQuestion, waitingCall } from '../session/session-state.ts';
import { streamedSoFar } from './open-output.ts';
import type { Session } from './session.ts';
import type { SessionResolver } from './session-resolver.ts';
import type { TurnDeps } from './turn-deps.ts';

/** The sender of a command, and its dialect. */
export type Caller = {
  readonly principal: Principal;
  readonly dialect: string;
  readonly via?: ConnectionId;
  /** idempotency key: an input sent twice with the same key is accepted once */
  readonly key?: string;
  /** refuses an input with the key of another input; otherwise it is ignored */
  readonly keyOnce?: boolean;
  /** id of the input's turn, if the dialect assigns it; must be unique */
  readonly turn?: TurnId;
};

type ContextInput = Pick<DecisionContext, 'maxQueued' | 'replaced' | 'isKnown'> & {
  /** number of the event of the message that is rewound to */
  readonly rewindFrom: number | undefined;
  readonly session: Session;
  readonly command: DecidableCommand;
  readonly caller: Caller;
};

type Sources = {
  readonly catalog: AgentCatalog;
  readonly now: () => number;
  readonly newId: () => string;
};

/** Throws `not_found` if the command names an agent or a domain that does not exist. */
export function decisionContext(known: ContextInput, { catalog, now, newId }: Sources): DecisionContext {
  const { session, command, caller, maxQueued, replaced, isKnown } = known;
  const creates = command.type === 'session.create' || command.type === 'input.submit';
  const chosen = creates || command.type === 'session.configure' ? command.agent : undefined;
  const domain = (creates && command.domain) || session.state.created?.domain || catalog.defaultDomain;
  const { dialect, via, key } = caller;
  return {
    by: caller.principal.id,
    dialect,
    via,
    key,
    apiKey: caller.principal.apiKey,
    domain,
    agent: catalog.first(domain, chosen),
    answeredBy: answering(command, catalog),
    // Joining the open block costs as much as the answer is long, so do it only if the command may need it.
    open: mayEndTurn(command, session.state) ? streamedSoFar(session.open, now) : null,
    replaced,
    isKnown,
    mayApprove: caller.principal.permissions.includes('tool:approve'),
    maxQueued,
    ids: command.type === 'input.submit' ? newIds(caller, newId) : null,
    rewind: command.type === 'session.rewind' ? { id: newId(), from: known.rewindFrom } : null,
    historyInputs: historyInputs(command, newId),
  };
}

function newIds({ turn }: Caller, newId: () => string): DecisionContext['ids'] {
  const input = newId() as InputId;
  return { input, turn: turn ?? (newId() as TurnId) };
}

function historyInputs(command: DecidableCommand, newId: () => string): InputId[] {
  const items =
    command.type === 'history.append'
      ? command.items
      : (command.type === 'session.create' && command.history) || [];
  return items.filter(({ type }) => type === 'user').map(() => newId() as InputId);
}

function answering(command: DecidableCommand, catalog: AgentCatalog): AgentRef | undefined {
  if (command.type !== 'input.submit' || command.answeredBy === undefined) return undefined;
  const { id, name } = catalog.agent(command.answeredBy);
  return { id, name };
}

/** The input that the command replaces, if it is still in the context. */
export async function replacedInput(
  session: Session,
  command: DecidableCommand,
): Promise<DecisionContext['replaced']> {
  const named =
    command.type === 'input.submit'
      ? command.replaces
      : command.type === 'session.rewind'
        ? command.to
        : undefined;
  if (!named) return null;
  const turn = (await session.context()).turns.find(({ id }) => id === named);
  return turn ? { input: turn.id, seq: turn.input } : null;
}

/** The number of the event of that message, which may have left the context. */
export async function inputSeq(session: Session, input: InputId): Promise<number | undefined> {
  const turn = (await session.context()).turns.find(({ id }) => id === input);
  if (turn) return turn.input;
  for await (const event of session.events(0))
    if ((event.type === 'input.accepted' || event.type === 'history.imported') && event.input === input)
      return event.seq;
  return undefined;
}

/** Whether the approval or the question that the command answers has ever been in the session. */
export async function isKnown(
  session: Session,
  command: DecidableCommand,
  resolver: SessionResolver,
): Promise<boolean> {
  switch (command.type) {
    case 'approval.answer': {
      const { approval } = command;
      if (!approval) return false;
      if (waitingCall(session.state, approval)) return true;
      return resolver.has(session.ref, { kind: 'approval', id: approval });
    }
    case 'question.answer': {
      const { question } = command;
      if (!question) return false;
      if (openQuestion(session.state, question)) return true;
      return resolver.has(session.ref, { kind: 'question', id: question });
    }
    default:
      return false;
  }
}

/** Throws `invalid` if the model or the approval mode is not available. */
export function checkConfiguration(
  { model, approval }: Extract<Command, { type: 'session.configure' }>,
  {
    providerFor,
    fullAutoProblem,
    fallbackFromNamed,
  }: Pick<TurnDeps, 'providerFor' | 'fullAutoProblem' | 'fallbackFromNamed'>,
): void {
  if (approval === 'full-auto' && fullAutoProblem !== null) throw new Fault('invalid', `${fullAutoProblem}.`);
  if (typeof model !== 'string') return;
  if (!providerFor) throw new Fault('invalid', 'This server offers no other models.');
  if (!fallbackFromNamed && model.includes(','))
    throw new Fault('invalid', 'This server lets callers name one model, without others to fall back to.');
  providerFor(model);
}
