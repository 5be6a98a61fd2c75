/** Permissions of a principal. */
import { type Command, Fault, type Permission, type Principal, requirePermission } from '@parlance/protocol';
import type { SessionRef } from '../ports/event-store.ts';

export const maySee = (ref: SessionRef, principal: Principal): boolean =>
  ref.owner === principal.id || principal.role === 'admin';

/**
 * Throws `not_found` if the session belongs to another user, and `forbidden` if the principal lacks a
 * permission.
 */
export function authorise(ref: SessionRef, command: Command, principal: Principal): void {
  if (!maySee(ref, principal)) throw new Fault('not_found', 'There is no such session.');
  for (const permission of needed(command)) requirePermission(principal, permission);
}

function needed(command: Command): Permission[] {
  switch (command.type) {
    case 'approval.answer':
      return [command.answer === 'deny' ? 'tool:reject' : 'tool:approve'];
    case 'grant.revoke':
      return ['tool:approve'];
    case 'session.configure':
      return command.approval === undefined ? ['chat:send'] : ['chat:send', 'tool:approve'];
    case 'input.submit':
      return command.call ? ['tool:request', 'chat:send'] : ['chat:send'];
    case 'call.answer':
    case 'session.rename':
    case 'session.archive':
    case 'session.unarchive':
    case 'session.pin':
    case 'session.tag':
    case 'session.label':
    case 'session.create':
    case 'turn.cancel':
    case 'approval.explain':
    case 'context.compact':
    case 'session.clear':
      return ['chat:send'];
  }
}
