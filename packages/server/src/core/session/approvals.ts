/** Approval policy for all tools: decides whether a call may run without approval. */
import {
  type ApprovalMode,
  type Ask,
  type Command,
  Fault,
  type Permission,
  type Principal,
  requirePermission,
  visible,
  visibleLine,
} from '@parlance/protocol';
import type { SessionRecord, SessionRef } from '../ports/event-store.ts';
import type { RuleSubjects, RunPermission } from '../ports/tool.ts';
import { restoredState } from './checkpoint.ts';
import { decisionOf, type Rule } from './rules.ts';

/**
 * `suggest`: every call that its tool marks for approval asks. `auto-edit`: edits inside the working
 * directory run. `full-auto`: everything runs; the server refuses this mode without a sandbox.
 */
export type { ApprovalMode, Rule };

export type PolicyInput = {
  /** names of the tool in rules */
  readonly tools: readonly string[];
  readonly mode: ApprovalMode;
  readonly rules: readonly Rule[];
  /** the approval that the tool requests, or null */
  readonly ask: Ask | null;
  /** subjects that the rules are matched against */
  readonly subjects: RuleSubjects;
  readonly grants: readonly string[];
  /** the model had untrusted content in its context when it made the call */
  readonly tainted: boolean;
  /** the call sends its arguments to someone else */
  readonly sends: boolean;
};

const MODES: readonly ApprovalMode[] = ['suggest', 'auto-edit', 'full-auto'];

export const stricter = (one: ApprovalMode, other: ApprovalMode): ApprovalMode =>
  MODES.indexOf(one) < MODES.indexOf(other) ? one : other;

/** Applies rules first, the strictest match wins; then the mode, then standing grants. */
export function applyPolicy(call: PolicyInput): 'run' | 'ask' | 'deny' {
  const { mode, ask, grants, tainted, sends } = call;
  const byRules = decisionOf(call.rules, call.tools, call.subjects);
  if (byRules === 'deny') return 'deny';
  if (byRules === 'ask') return 'ask';
  if (byRules === 'allow' || mode === 'full-auto') return 'run';
  // Untrusted content may tell the model to put what it has read into the arguments.
  if (ask === null) return tainted && sends ? 'ask' : 'run';
  // Untrusted content may contain instructions for the model, which standing grants do not cover.
  // What the user asked for by name is not from there.
  if (ask.kind === 'browser') return tainted && sends ? 'ask' : 'run';
  if (tainted) return 'ask';
  if (mode === 'auto-edit' && ask.kind === 'edit') return 'run';
  return ask.grant !== undefined && grants.includes(ask.grant) ? 'run' : 'ask';
}

/** For a call that runs. `approved`: a grant or a rule allows it, regardless of the mode. */
export function permissionOf(call: PolicyInput): RunPermission {
  if (call.ask === null) return 'safe';
  return applyPolicy({ ...call, mode: 'suggest' }) === 'run' ? 'approved' : 'mode';
}

/** The approval request without invisible or reordering characters, for all dialects. */
export const withVisibleText = (ask: Ask): Ask => ({
  ...ask,
  command: ask.command.map(visible),
  ...(ask.patch === undefined ? {} : { patch: visible(ask.patch) }),
  ...(ask.replaces === undefined ? {} : { replaces: ask.replaces.map(visibleLine) }),
  ...(ask.files === undefined ? {} : { files: ask.files.map(plainFile) }),
  description: visibleLine(ask.description),
});

const plainFile = ({ path, content, ...file }: NonNullable<Ask['files']>[number]) => ({
  ...file,
  path: visibleLine(path),
  ...(content === undefined ? {} : { content: visible(content) }),
});

/** A hash of what is shown and what will run, so that an answer cannot be applied to another call. */
export function approvalHash(tool: string, input: object, ask: Ask): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify([tool, input, ask])).digest('hex');
}

const YES = /^(?:yes|y|ok|okay|approve)(?:\.|!+)?$/i;
const NO = /^(?:no|n|deny)(?:\.|!+)?$/i;

/**
 * Reads a chat message that consists of a single word of consent or refusal, for dialects without approval
 * frames. A word followed by a question mark or dots is ambiguous and does not count.
 */
export function answerInText(text: string): 'once' | 'deny' | null {
  const word = text.trim();
  if (YES.test(word)) return 'once';
  return NO.test(word) ? 'deny' : null;
}

// The standing grants of a session, read from its record.

/** Null if the checkpoint is outdated: the events must be read then. */
export function grantsAtCheckpoint({ checkpoint, head }: SessionRecord): readonly string[] | null {
  return checkpoint?.seq === head ? (restoredState(checkpoint)?.grants ?? null) : null;
}

// Permissions of a principal.

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
    // Writes files, as an approved call does.
    case 'session.rewind':
      return command.files ? ['chat:send', 'tool:approve'] : ['chat:send'];
    case 'input.submit':
      return command.call ? ['tool:request', 'chat:send'] : ['chat:send'];
    case 'call.answer':
    case 'question.answer':
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
    case 'history.append':
    case 'history.remove':
    case 'session.clear':
      return ['chat:send'];
  }
}
