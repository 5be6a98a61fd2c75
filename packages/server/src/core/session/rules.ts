/** The operator's rules for calls. Matching is linear in the length of the text. */
import type { RuleSubjects } from '../ports/tool.ts';

/** `pattern` is matched against each action of the call; `*` matches any text. */
export type Rule = {
  /** a tool's name, or `*` */
  readonly tool: string;
  readonly pattern: string;
  readonly decision: 'allow' | 'ask' | 'deny';
};

/**
 * Maximum number of characters to match. For a longer call, only the prefix is compared: a rule that could
 * match the rest counts as a match, unless it is an `allow` rule.
 */
export const MATCHED_CHARACTERS = 262_144;

/**
 * The strictest decision of the matching rules, or null. `deny` and `ask` match if one subject does, `allow`
 * only if all do.
 */
export function decisionOf(
  rules: readonly Rule[],
  tools: readonly string[],
  subjects: RuleSubjects,
): Rule['decision'] | null {
  const own = rules.filter(({ tool }) => tool === '*' || tools.includes(tool));
  if (own.length === 0) return null;
  const { literal, normalised = [], partial = literal ? [] : [''] } = subjects;
  const all = [...(literal ?? []), ...normalised];
  if (charactersOf(all) > MATCHED_CHARACTERS) return decisionOnBeginnings(own, [...all, ...partial]);
  const joined = literal && literal.length > 1 ? [literal.join(' && ')] : [];
  const some = (decision: Rule['decision']) =>
    own.some(
      (rule) => rule.decision === decision && [...all, ...joined].some((one) => matches(rule.pattern, one)),
    );
  if (some('deny')) return 'deny';
  if (
    some('ask') ||
    partial.some((start) => own.some((rule) => restricts(rule) && canMatch(rule.pattern, start)))
  )
    return 'ask';
  const allowed = (subject: string) =>
    own.some((rule) => rule.decision === 'allow' && matches(rule.pattern, subject));
  return literal && literal.length > 0 && literal.every(allowed) ? 'allow' : null;
}

function decisionOnBeginnings(own: readonly Rule[], subjects: readonly string[]): 'deny' | 'ask' | null {
  const some = (decision: Rule['decision']) =>
    own.some(
      (rule) => rule.decision === decision && subjects.some((subject) => canMatch(rule.pattern, subject)),
    );
  return some('deny') ? 'deny' : some('ask') ? 'ask' : null;
}

const restricts = ({ decision }: Rule): boolean => decision !== 'allow';

const charactersOf = (subjects: readonly string[]): number =>
  subjects.reduce((sum, { length }) => sum + length, 0);

/**
 * Matches each literal between two stars at its first occurrence, which leaves the most text for the rest of
 * the pattern: no backtracking.
 */
export function matches(pattern: string, subject: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === subject;
  if (!subject.startsWith(first)) return false;
  let at = first.length;
  for (const literal of rest) {
    const found = subject.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return subject.length - last.length >= at && subject.endsWith(last);
}

/** Whether a text with this prefix could match. */
export function canMatch(pattern: string, beginning: string): boolean {
  const star = pattern.indexOf('*');
  if (star === -1) return pattern.startsWith(beginning);
  const first = pattern.slice(0, star);
  return first.startsWith(beginning) || beginning.startsWith(first);
}
