/** Limits on money and tokens: what is counted, which limits apply, and when they are reached. Pure. */

import {
  Amount,
  type Answers,
  amountsText,
  amountText,
  type DurableEvent,
  type DurableEventBody,
  Fault,
  type LimitUse,
  limitName,
  NOTHING_SPENT,
  type Question,
  type QuestionContent,
  type SpendLimit,
  Spent,
  sumOf,
  type TurnId,
} from '@parlance/protocol';
import type { UsageEntry, UsageFilter, UsageLabels } from '../ports/event-store.ts';
import type { SessionState, Turn } from './session-state.ts';

/** `2026-01-31`, in UTC. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** The first day of the day or month. */
const startOf = (period: SpendLimit['in'], at: number): string =>
  period === 'month' ? `${dayOf(at).slice(0, 7)}-01` : dayOf(at);

/** The day on which the next day or month begins. */
function resetOf(period: SpendLimit['in'], at: number): string {
  const date = new Date(at);
  return period === 'month'
    ? dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1))
    : dayOf(at + 86_400_000);
}

// What an append adds to the usage.

/** The model call that the event ends, or null. `before`: the state in which the event was decided. */
export function usageEntry(event: DurableEvent, before: SessionState, owner: string): UsageEntry | null {
  switch (event.type) {
    case 'step.ended':
      // A pause calls no model.
      if (!event.counted && event.usage.inputTokens + event.usage.outputTokens === 0) return null;
      return entryOf(event, {
        owner,
        agent: before.turn?.agent.id ?? before.agent.id,
        apiKey: before.turn?.apiKey,
        model: event.model ?? OFFLINE,
        task: 'chat',
      });
    case 'usage.recorded':
      return entryOf(event, { owner, ...event });
    default:
      return null;
  }
}

/** Steps of models that are no vendor's do not name one. */
const OFFLINE = 'offline';

type Counted = Pick<DurableEventBody<'usage.recorded'>, 'usage' | 'cost' | 'estimated'> & {
  readonly at: number;
};
type Labels = Omit<UsageLabels, 'day' | 'apiKey'> & { readonly apiKey?: string | undefined };

export const entryOf = (
  { usage, cost, estimated, at }: Counted,
  { owner, agent, apiKey = '', model, task }: Labels,
): UsageEntry => ({
  day: dayOf(at),
  owner,
  agent,
  apiKey,
  model,
  task,
  calls: 1,
  inputTokens: usage.inputTokens,
  cachedTokens: usage.cachedTokens ?? 0,
  outputTokens: usage.outputTokens,
  reasoningTokens: usage.reasoningTokens ?? 0,
  cost: cost ?? 0,
  unpriced: cost === undefined ? 1 : 0,
  estimated: estimated ? 1 : 0,
});

/** The step that could not be recorded because its turn is over: it was answered and counts. */
export const usageOfStep = (
  events: readonly DurableEventBody[],
  { agent, apiKey }: Pick<Turn, 'agent' | 'apiKey'>,
): DurableEventBody[] =>
  events.flatMap((event): DurableEventBody[] => {
    if (event.type !== 'step.ended' || event.usage.inputTokens + event.usage.outputTokens === 0) return [];
    const { usage, cost, model = OFFLINE } = event;
    return [{ type: 'usage.recorded', task: 'chat', model, usage, cost, agent: agent.id, apiKey }];
  });

// Limits of the operator.

/** Who causes a model call. */
export type Spender = {
  readonly owner: string;
  /** null: none in particular */
  readonly agent: string | null;
  readonly apiKey?: string | undefined;
  /** null: not known yet, or outside of a session */
  readonly session: Spent | null;
  readonly turn: Spent | null;
};

/** A limit in one unit that applies to a spender. */
export type AppliedLimit = {
  readonly limit: Omit<LimitUse, 'used'>;
  /** what is counted, if that is not known from the session */
  readonly filter: UsageFilter | null;
};

/** The limits that apply to the spender at that time. One that names it replaces the one for all. */
export function appliedLimits(
  limits: readonly SpendLimit[],
  { owner, agent, apiKey, session, turn }: Spender,
  at: number,
): AppliedLimit[] {
  const names = { turn: undefined, session: undefined, user: owner, agent: agent ?? undefined, key: apiKey };
  const known = {
    turn: turn !== null,
    session: session !== null,
    user: true,
    agent: agent !== null,
    key: apiKey !== undefined,
  };
  const concerned = limits.filter(({ per, of }) => known[per] && (of === undefined || of === names[per]));
  return concerned
    .filter(
      ({ per, of, in: period }) =>
        of !== undefined ||
        !concerned.some((other) => other.of !== undefined && other.per === per && other.in === period),
    )
    .flatMap((limit): AppliedLimit[] => {
      const { per, in: period } = limit;
      const name = names[per];
      const from = startOf(period, at);
      const filters = {
        turn: null,
        session: null,
        user: { owner, from },
        agent: { agent: agent ?? undefined, from },
        key: { apiKey, from },
      } satisfies Record<SpendLimit['per'], UsageFilter | null>;
      return unitsOf(limit).map(({ unit, max }) => ({
        limit: { per, ...(name !== undefined && { of: name }), ...(period && { in: period }), unit, max },
        filter: filters[per],
      }));
    });
}

const unitsOf = ({
  dollars,
  tokens,
}: Amount): { readonly unit: LimitUse['unit']; readonly max: number }[] => [
  ...(dollars === undefined ? [] : [{ unit: 'dollars' as const, max: dollars }]),
  ...(tokens === undefined ? [] : [{ unit: 'tokens' as const, max: tokens }]),
];

export const usedIn = (unit: LimitUse['unit'], { tokens, cost }: Spent): number =>
  unit === 'tokens' ? tokens : cost / 1e6;

/** Whether a step may not begin any more. */
export const isReached = ({ used, max }: Pick<LimitUse, 'used' | 'max'>): boolean => used >= max;

/** Why no model is called. Never with a time after which a retry helps: clients would wait for it in a loop. */
export function exhausted(limit: LimitUse, at: number): Fault {
  const reset = limit.in ? ` It is reset on ${resetOf(limit.in, at)} (UTC).` : '';
  return new Fault('budget_exhausted', `${sentence(limitName(limit))} is used up.${reset}`);
}

/** Why a sub-agent calls no model: its parent asks its user before its own next step. */
export const exhaustedAbove = ({ unit, max }: Pick<LimitUse, 'unit' | 'max'>): Fault =>
  new Fault(
    'budget_exhausted',
    `The limit of ${amountText(unit, max)} of the session that this one works for is used up.`,
  );

const sentence = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;

// 80 % of a limit is announced once.

const SHARE = 0.8;

/** The limits that exceed the share with this step and did not before. */
export const approached = (limits: readonly LimitUse[], step: Spent): LimitUse[] =>
  limits
    .map((limit) => ({ ...limit, used: limit.used + usedIn(limit.unit, step) }))
    .filter(({ used, max }) => max > 0 && used >= SHARE * max);

/** Names a limit in its period: it is announced once under this name. */
export function announcementOf(
  { per, of, in: period, soft, unit, max }: LimitUse,
  { at, turn }: { readonly at: number; readonly turn: TurnId },
): string {
  const when = period ? startOf(period, at) : per === 'turn' ? turn : '';
  return JSON.stringify([per, of ?? '', period ?? '', soft ?? false, unit, max, when]);
}

// The limit of a session's owner.

/** The part of the session's own limit that is used, by unit. */
export const softLimits = ({ limit, spent }: Pick<SessionState, 'limit' | 'spent'>): LimitUse[] =>
  limit
    ? unitsOf(limit).map(({ unit, max }) => ({
        per: 'session',
        soft: true,
        unit,
        max,
        used: usedIn(unit, spent),
      }))
    : [];

const STOP = 'Stop';
const UNLIMITED = 'Continue without a limit';
const ITEM = 'limit';
/** Offered if the limit is 0. */
const LEAST: Required<Amount> = { dollars: 1, tokens: 100_000 };

/**
 * What a turn asks before a step that would begin above the session's own limit. `children`: what its sub-agents have used.
 * Throws if the user has stopped it.
 */
export function limitQuestion(
  { limit, spent, children }: Pick<SessionState, 'limit' | 'spent'> & { readonly children: Spent },
  { settled }: Pick<Turn, 'settled'>,
  at: number,
): QuestionContent | null {
  const reached = softLimits({ limit, spent: sumOf(spent, children) }).find(isReached);
  if (!reached || !limit) return null;
  const last = settled.findLast(({ purpose }) => purpose === 'limit');
  if (last && last.outcome !== 'withdrawn' && chosen(last.answers) !== UNLIMITED && !isRaised(last))
    throw exhausted(reached, at);
  const { dollars, tokens } = limit;
  const more: Amount = {
    ...(dollars !== undefined && { dollars: dollars || LEAST.dollars }),
    ...(tokens !== undefined && { tokens: tokens || LEAST.tokens }),
  };
  const used = amountText(reached.unit, reached.used);
  return {
    purpose: 'limit',
    questions: [
      {
        id: ITEM,
        header: 'Limit',
        text: `${sentence(limitName(reached))} is used up (${used}). Continue?`,
        options: [{ label: `Continue with +${amountsText(more)}` }, { label: UNLIMITED }, { label: STOP }],
        multiple: false,
        freeText: false,
      },
    ],
    data: { more, ...(children.tokens > 0 && { children }) },
  };
}

const chosen = (answers: Answers | undefined): string | undefined => answers?.[ITEM]?.[0];

/** It continued with more, and that is used as well. */
const isRaised = ({ answers }: { readonly answers?: Answers | undefined }): boolean =>
  chosen(answers)?.startsWith('Continue with +') ?? false;

/** What the answer changes: the limit of the session, counted from what is used. */
export function limitAfter(
  { limit, spent: own }: Pick<SessionState, 'limit' | 'spent'>,
  { data }: Pick<Question, 'data'>,
  answers: Answers,
): Amount | null | undefined {
  if (chosen(answers) === UNLIMITED) return null;
  const { data: more } = Amount.safeParse(data?.more);
  if (!isRaised({ answers }) || !more || !limit) return undefined;
  const { dollars, tokens } = more;
  const spent = sumOf(own, Spent.safeParse(data?.children).data ?? NOTHING_SPENT);
  return {
    ...(dollars !== undefined && {
      dollars: Math.max(limit.dollars ?? 0, Math.ceil(spent.cost / 10_000) / 100) + dollars,
    }),
    ...(tokens !== undefined && { tokens: Math.max(limit.tokens ?? 0, spent.tokens) + tokens }),
  };
}
