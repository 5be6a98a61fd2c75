/** Decides which model of a chain answers: the first one that is well and whose context is large enough. */
import type { Fallback, FaultData } from '@parlance/protocol';

/** A model of a chain. */
export type Candidate = { readonly name: string; readonly model: string; readonly contextLimit: number };

type Passed = Fallback['passed'][number];

/** After such a failure the next model is asked: a rate limit, an outage or a time-out. Never after a refusal or a bad request. */
export const mayFallBack = ({ code }: Pick<FaultData, 'code'>): boolean =>
  code === 'provider_limited' || code === 'provider_unavailable';

/** A model that goes on failing is probed less often, up to this. */
const MAX_BACK_OFF_MS = 600_000;
/** What a vendor may ask for; a longer wait is cut. */
export const MAX_COOL_DOWN_MS = 3_600_000;

/** How long a model is not asked after its latest failure. `retryAfterMs` is what the vendor asks for: any number. */
export function coolDownMs(firstMs: number, failures: number, retryAfterMs = 0): number {
  const backOff = Math.min(firstMs * 2 ** (failures - 1), Math.max(firstMs, MAX_BACK_OFF_MS));
  return Math.min(Math.max(backOff, retryAfterMs || 0), MAX_COOL_DOWN_MS);
}

export const isSameModel = (one: Pick<Passed, 'provider' | 'model'>, { name, model }: Candidate): boolean =>
  one.provider === name && one.model === model;

/** What the rest of the turn keeps of it once a step has ended: a model that failed cools down, and may be large enough next time. */
export function afterStep(
  fallback: Fallback | undefined,
  answered: string | undefined,
): Fallback | undefined {
  if (!fallback || answered !== fallback.model) return undefined;
  const passed = fallback.passed.flatMap((one) =>
    one.reason === 'too_small' ? [] : [{ ...one, reason: 'cooling' as const }],
  );
  return { ...fallback, passed };
}

type Circumstances = {
  /** models that the turn has passed over */
  readonly passed: readonly Passed[];
  /** until when a model is not asked because of a failure in any session; undefined: it may be asked */
  readonly coolingUntil: (candidate: Candidate) => number | undefined;
  /** of the next request */
  readonly tokens: number;
  /** share of a context above which it is compacted, or 1 */
  readonly threshold: number;
  readonly now: number;
};

export type Choice<Model> = {
  readonly model: Model;
  /** neither cools down nor needs a compaction */
  readonly isReady: boolean;
  readonly passed: Passed[];
};

/**
 * The model to ask, or null if all of them have failed in this step. If none is ready, the conversation is compacted for the
 * first one that it is too long for; if all cool down, they are asked in order nevertheless. The first model of a chain is
 * never too small: it was chosen for these conversations, and is asked to compact them.
 */
export function chooseModel<Model extends Candidate>(
  chain: readonly Model[],
  { passed, coolingUntil, tokens, threshold, now }: Circumstances,
): Choice<Model> | null {
  const states = chain.map((model, index) => {
    const known = passed.find((one) => isSameModel(one, model));
    const until = Math.max(coolingUntil(model) ?? 0, known?.until ?? 0);
    // A clock that was set back must not exclude a model for long.
    const cools = until > now && until - now <= MAX_COOL_DOWN_MS;
    const isTooSmall = index > 0 && tokens > threshold * model.contextLimit;
    const isOut = known !== undefined && known.reason !== 'cooling';
    const reason = isOut ? known.reason : cools ? 'cooling' : isTooSmall ? 'too_small' : null;
    return { model, index, isOut, reason, until };
  });
  const left = states.filter(({ isOut }) => !isOut);
  const ready = left.find(({ reason }) => reason === null);
  const compacting = threshold < 1 ? left.find(({ reason }) => reason === 'too_small') : undefined;
  const chosen = ready ?? compacting ?? left.find(({ reason }) => reason === 'cooling');
  if (!chosen) return null;
  return {
    model: chosen.model,
    isReady: ready !== undefined,
    passed: states.flatMap(({ model: { name, model }, index, isOut, reason, until }) =>
      reason === null || chosen.index === index || (index > chosen.index && !isOut)
        ? []
        : [{ provider: name, model, reason, ...(until > 0 && { until }) }],
    ),
  };
}
