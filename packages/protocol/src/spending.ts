/** Sums of what was used, and limits in words. Without zod, so that browsers can load it. */
import type { Usage } from './event-fields.ts';
import type { Amount, LimitUse, Spent } from './spend.ts';

export const NOTHING_SPENT: Spent = { tokens: 0, cost: 0 };

/** A sum that is still an integer. */
const MOST = 1e15;

export const addSpent = (
  before: Spent,
  { usage, cost = 0 }: { usage: Usage; cost?: number | undefined },
): Spent => ({
  tokens: Math.min(MOST, before.tokens + usage.inputTokens + usage.outputTokens),
  cost: Math.min(MOST, before.cost + cost),
});

export const sumOf = (one: Spent, other: Spent): Spent => ({
  tokens: Math.min(MOST, one.tokens + other.tokens),
  cost: Math.min(MOST, one.cost + other.cost),
});

/** Millionths of a US dollar, for prices in US dollars per million tokens. */
export function costOf(
  { inputTokens, outputTokens, cachedTokens = 0 }: Usage,
  { input, output, cached = input }: { input: number; output: number; cached?: number | undefined },
): number {
  const plain = Math.max(0, inputTokens - cachedTokens);
  return Math.min(MOST, Math.round(plain * input + cachedTokens * cached + outputTokens * output));
}

// Words.

const NAMES = {
  turn: 'this turn',
  session: 'this session',
  agent: 'the agent',
  key: 'the API key',
  user: 'the user',
} satisfies Record<LimitUse['per'], string>;

/** `$4.12`, `12,000 tokens` */
export const amountText = (unit: LimitUse['unit'], amount: number): string =>
  unit === 'tokens'
    ? `${Math.round(amount).toLocaleString('en')} tokens`
    : `$${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: amount < 0.1 ? 6 : 2 })}`;

/** `$5.00 or 20,000 tokens` */
export const amountsText = ({ dollars, tokens }: Amount): string =>
  [
    ...(dollars === undefined ? [] : [amountText('dollars', dollars)]),
    ...(tokens === undefined ? [] : [amountText('tokens', tokens)]),
  ].join(' or ');

/** `the limit of $5.00 per day of the user ada` */
export function limitName({ per, of, in: period, unit, max }: Omit<LimitUse, 'used'>): string {
  const name = of === undefined ? NAMES[per] : `${NAMES[per]} ${of}`;
  return `the limit of ${amountText(unit, max)}${period ? ` per ${period}` : ''} of ${name}`;
}

/** `80% of the limit of $5.00 of this session is used ($4.12).` */
export const limitNotice = (limit: LimitUse): string =>
  `${Math.min(100, Math.floor((100 * limit.used) / limit.max))}% of ${limitName(limit)} is used (${amountText(limit.unit, limit.used)}).`;
