/** May a call run unasked? One policy for every tool. */
import { type ApprovalMode, type Ask, visible, visibleLine } from '@parlance/protocol';
import type { Permission, RuleSubjects } from '../ports/tool.ts';
import { decisionOf, type Rule } from './rules.ts';

/**
 * `suggest`: everything that a tool wants shown is asked. `auto-edit`: edits inside the working directory run.
 * `full-auto`: everything runs; the server refuses this mode where there is no sandbox.
 */
export type { ApprovalMode, Rule };

export type Judged = {
  /** the names by which rules mean this tool */
  readonly tools: readonly string[];
  readonly mode: ApprovalMode;
  readonly rules: readonly Rule[];
  /** what the tool wants shown; null where it sees no need */
  readonly ask: Ask | null;
  /** what the call would do, as rules name it */
  readonly subjects: RuleSubjects;
  readonly grants: readonly string[];
  /** untrusted content have come into the turn */
  readonly tainted: boolean;
};

/** Rules come first, the strictest of those that fit; then the mode, then standing grants. */
export function judge(call: Judged): 'run' | 'ask' | 'deny' {
  const { mode, ask, grants, tainted } = call;
  const ruled = decisionOf(call.rules, call.tools, call.subjects);
  if (ruled === 'deny') return 'deny';
  if (ruled === 'ask') return 'ask';
  if (ruled === 'allow' || ask === null || mode === 'full-auto') return 'run';
  // A page that tells the model what to do must not find doors that were opened for someone else.
  if (tainted) return 'ask';
  if (ask.kind === 'browser') return 'run';
  if (mode === 'auto-edit' && ask.kind === 'edit') return 'run';
  return ask.grant !== undefined && grants.includes(ask.grant) ? 'run' : 'ask';
}

/** For a call that runs. `approved` means that it would run without the mode, by a grant or a rule. */
export function permissionOf(call: Judged): Permission {
  if (call.ask === null) return 'safe';
  return judge({ ...call, mode: 'suggest' }) === 'run' ? 'approved' : 'mode';
}

/** As a person is shown it, on every wire: nothing in it is hidden, or stands elsewhere than it seems to. */
export const plainly = (ask: Ask): Ask => ({
  ...ask,
  command: ask.command.map(visible),
  ...(ask.patch === undefined ? {} : { patch: visible(ask.patch) }),
  ...(ask.replaces === undefined ? {} : { replaces: ask.replaces.map(visibleLine) }),
  description: visibleLine(ask.description),
});

/** Over exactly what is shown and what will run, so that an answer cannot be moved to another call. */
export function approvalHash(tool: string, input: object, ask: Ask): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify([tool, input, ask])).digest('hex');
}

const YES = /^(?:yes|y|ok|okay|approve)(?:\.|!+)?$/i;
const NO = /^(?:no|n|deny)(?:\.|!+)?$/i;

/**
 * A message that is just a word of consent or refusal, for dialects that have no frame for it. A question mark or dots
 * after the word leave it unclear: then it is no answer.
 */
export function spokenAnswer(text: string): 'once' | 'deny' | null {
  const word = text.trim();
  if (YES.test(word)) return 'once';
  return NO.test(word) ? 'deny' : null;
}
