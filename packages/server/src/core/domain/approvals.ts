/** Approval policy for all tools: decides whether a call may run without approval. */
import { type ApprovalMode, type Ask, visible, visibleLine } from '@parlance/protocol';
import type { Permission, RuleSubjects } from '../ports/tool.ts';
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
export function permissionOf(call: PolicyInput): Permission {
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
