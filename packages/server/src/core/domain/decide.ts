/** Decides which events a command produces in a given state. Pure. */
import { type DurableEventBody, Fault } from '@parlance/protocol';
import { decideAnswer } from './decide-approval.ts';
import { decideCallAnswer } from './decide-call.ts';
import { decideCancel, endsRunningTurn } from './decide-cancel.ts';
import { decideInput } from './decide-input.ts';
import { decideCreation, decideLabels, decideRename, decideTags, inExisting } from './decide-session.ts';
import type { DecidableCommand, DecisionContext } from './decision.ts';
import type { SessionState } from './session-state.ts';
import { interruption } from './turn-events.ts';

/**
 * Returns the events of the command, or none if it no longer has an effect. Throws a `Fault` if it is
 * rejected.
 */
export function decide(
  state: SessionState,
  command: DecidableCommand,
  context: DecisionContext,
): DurableEventBody[] {
  switch (command.type) {
    case 'session.create':
      return state.created ? [] : decideCreation(command, context);
    case 'input.submit':
      return decideInput(state, command, context);
    case 'turn.cancel':
      return decideCancel(state, command, context);
    case 'approval.answer':
      return decideAnswer(state, command, context);
    case 'call.answer':
      return decideCallAnswer(state, command);
    case 'grant.revoke':
      if (!state.grants.includes(command.grant)) throw new Fault('not_found', 'There is no such grant.');
      return [{ type: 'grant.revoked', grant: command.grant, by: context.by }];
    case 'session.configure': {
      const { model, approval } = command;
      const agent = command.agent === undefined ? undefined : context.agent;
      return inExisting(state, { type: 'session.configured', model, approval, agent, by: context.by });
    }
    case 'session.rename':
      return inExisting(state, decideRename(command.title, command.automatic, context));
    case 'session.archive':
      return state.archived ? [] : inExisting(state, { type: 'session.archived', by: context.by });
    case 'session.unarchive':
      return state.archived ? [{ type: 'session.unarchived', by: context.by }] : inExisting(state);
    case 'session.pin':
      return state.pinned === command.pinned
        ? inExisting(state)
        : inExisting(state, { type: 'session.pinned', pinned: command.pinned, by: context.by });
    case 'session.tag':
      return inExisting(state, ...decideTags(state, command.tags, context));
    case 'session.label':
      return inExisting(state, decideLabels(state, command.labels));
    case 'session.clear':
      if (!state.created) return [];
      return [
        ...(state.turn ? interruption(state.turn, 'cancelled', context.open) : []),
        { type: 'session.cleared', by: context.by },
      ];
  }
}

/** Whether the command can end the running turn. */
export function mayEndTurn(command: DecidableCommand, state: SessionState): boolean {
  switch (command.type) {
    case 'turn.cancel':
      return endsRunningTurn(command, state);
    case 'session.clear':
      return true;
    case 'input.submit':
      return command.mode === 'supersede' || command.replaces !== undefined;
    case 'approval.answer':
      return command.exit === true;
    default:
      return false;
  }
}
