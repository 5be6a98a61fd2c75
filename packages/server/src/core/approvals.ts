/** May a call run unasked? One policy for every tool. */
import { type ApprovalMode, type Ask, visible, visibleLine } from '@parlance/protocol';

/**
 * `suggest`: everything that a tool wants shown is asked. `auto-edit`: edits inside the working directory run.
 * `full-auto`: everything runs; the server refuses this mode where there is no sandbox.
 */
export type { ApprovalMode };

/** A rule of the operator. `pattern` is matched against each thing the call would do; `*` stands for anything. */
export type Rule = {
  /** a tool's name, or `*` */
  readonly tool: string;
  readonly pattern: string;
  readonly decision: 'allow' | 'ask' | 'deny';
};

export type Judged = {
  readonly tool: string;
  readonly mode: ApprovalMode;
  readonly rules: readonly Rule[];
  /** what the tool wants shown; null where it sees no need */
  readonly ask: Ask | null;
  /** what the call would do, one by one; null where that cannot be told, and then nothing can be allowed by a rule */
  readonly subjects: readonly string[] | null;
  readonly grants: readonly string[];
  /** words of strangers have come into the turn */
  readonly tainted: boolean;
};

/** Rules come first, the strictest of those that fit; then the mode, then standing grants. */
export function judge(call: Judged): 'run' | 'ask' | 'deny' {
  const { mode, ask, grants, tainted } = call;
  const ruled = byRules(call);
  if (ruled === 'deny') return 'deny';
  if (ruled === 'ask') return 'ask';
  if (ruled === 'allow' || ask === null || mode === 'full-auto') return 'run';
  // A page that tells the model what to do must not find doors that were opened for someone else.
  if (tainted) return 'ask';
  if (ask.kind === 'browser') return 'run';
  if (mode === 'auto-edit' && ask.kind === 'edit') return 'run';
  return ask.grant !== undefined && grants.includes(ask.grant) ? 'run' : 'ask';
}

/** For a call that runs: a grant or a rule of the operator lets it, and not the mode or the tool itself. */
export const isApproved = (call: Judged): boolean =>
  call.ask !== null && judge({ ...call, mode: 'suggest' }) === 'run';

/** `deny` and `ask` need one thing that fits; `allow` needs every one to fit. */
function byRules({ tool, rules, subjects }: Judged): Rule['decision'] | null {
  const own = rules.filter((rule) => rule.tool === '*' || rule.tool === tool);
  const fits = (decision: Rule['decision'], subject: string) =>
    own.some((rule) => rule.decision === decision && matches(rule.pattern, subject));
  const some = (decision: Rule['decision']) =>
    (subjects ?? ['']).some((subject) => fits(decision, subject)) ||
    fits(decision, (subjects ?? []).join(' && '));
  if (some('deny')) return 'deny';
  // What cannot be told might be what is denied.
  if (some('ask') || (!subjects && own.some((rule) => rule.decision === 'deny'))) return 'ask';
  return subjects && subjects.length > 0 && subjects.every((subject) => fits('allow', subject))
    ? 'allow'
    : null;
}

function matches(pattern: string, subject: string): boolean {
  const source = pattern.split('*').map((literal) => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${source.join('[^]*')}$`).test(subject);
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

const YES = new Set(['yes', 'y', 'approve']);
const NO = new Set(['no', 'n', 'deny']);

/** A message that is just a word of consent or refusal, for dialects that have no frame for it. */
export function spokenAnswer(text: string): 'once' | 'deny' | null {
  const word = text.trim().toLowerCase();
  if (YES.has(word)) return 'once';
  return NO.has(word) ? 'deny' : null;
}
