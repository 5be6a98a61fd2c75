/** Cost of turns at prices of the catalogue, or that an admin or the reader has set. Unknown prices give no cost. */
import type { About, Price, SessionView, TurnView } from '@parlance/sdk';

/** By the name of the model. */
export type Prices = Readonly<Record<string, Price>>;

type Usage = TurnView['usage'];

export function costOf({ inputTokens, outputTokens, cachedTokens = 0 }: Usage, price: Price): number {
  const { input, output, cached = input } = price;
  return ((inputTokens - cachedTokens) * input + cachedTokens * cached + outputTokens * output) / 1e6;
}

type Answered = Pick<TurnView, 'model' | 'agent' | 'fallback'>;

function fullNameOf(turn: Answered, about: About): string {
  const agent = about.agents.find(({ id }) => id === turn.agent.id);
  const [first = ''] = (turn.model ?? agent?.model ?? about.model).split(',');
  return turn.fallback ?? first.trim();
}

/** The model that answered the turn, without its provider. A guess if the server's default has changed since. */
export function modelOf(turn: Answered, about: About): string {
  const name = fullNameOf(turn, about);
  const vendor = about.vendors.find((one) => name.startsWith(`${one.name}:`));
  return vendor ? name.slice(vendor.name.length + 1) || name : name;
}

/** Of the model as it was named. A price that somebody has set for the name alone counts for every vendor. */
export function priceOf(turn: Answered, about: About, prices: Prices): Price | undefined {
  const [full, name] = [fullNameOf(turn, about), modelOf(turn, about)];
  const price = prices[name];
  return prices[full] ?? (price?.catalogue === undefined ? price : undefined);
}

/** Null if the price of a model that answered is unknown. */
export function costOfSession(view: SessionView, about: About, prices: Prices): number | null {
  let cost = 0;
  for (const turn of view.entries) {
    if (turn.kind !== 'turn' || turn.usage.inputTokens + turn.usage.outputTokens === 0) continue;
    const price = priceOf(turn, about, prices);
    if (!price) return null;
    cost += costOf(turn.usage, price);
  }
  return cost === 0 ? null : cost;
}

/** Made when it is needed: it takes longer than most modules take to load. */
let few: Intl.NumberFormat | null = null;

export function shortNumber(count: number): string {
  few ??= new Intl.NumberFormat('en', { maximumSignificantDigits: 3, notation: 'compact' });
  return few.format(count);
}

/** `1 step`, `2 steps` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const dollars = (cost: number): string =>
  `$${cost >= 0.1 ? cost.toFixed(2) : cost.toLocaleString('en', { maximumSignificantDigits: 2 })}`;

export function duration(ms: number): string {
  if (ms < 1) return 'less than 1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** `1.2K tokens in, 300 out` */
export const shortUsage = ({ inputTokens, outputTokens }: Usage): string =>
  `${shortNumber(inputTokens)} tokens in, ${shortNumber(outputTokens)} out`;

export const usageText = ({ inputTokens, outputTokens, cachedTokens, reasoningTokens }: Usage): string =>
  [
    `${inputTokens.toLocaleString()} tokens in`,
    cachedTokens ? `${cachedTokens.toLocaleString()} of them cached` : '',
    `${outputTokens.toLocaleString()} out`,
    reasoningTokens ? `${reasoningTokens.toLocaleString()} of them reasoning` : '',
  ]
    .filter(Boolean)
    .join(', ');
