/** The models to choose from, grouped by provider, and those that match a query. Pure. */
import type { About, ProviderModels } from '@parlance/sdk';

export type ModelOption = {
  /** null: the default */
  readonly value: string | null;
  readonly label: string;
};

export type ModelGroup = {
  /** empty for the first group: the default and a model that no provider lists */
  readonly label: string;
  readonly options: readonly ModelOption[];
};

type Known = {
  /** models that the server names itself: its own, those of agents, and the offline model */
  readonly named: About['models'];
  readonly providers: readonly ProviderModels[];
  /** name of the default model */
  readonly fallback: string;
  readonly chosen: string | null;
};

const BUILT_IN = 'offline';

export function modelGroups({ named, providers, fallback, chosen }: Known): readonly ModelGroup[] {
  const labels = new Map(providers.map(({ provider, label }) => [provider, label]));
  for (const { provider } of named)
    if (!labels.has(provider)) labels.set(provider, provider === BUILT_IN ? 'Built in' : provider);
  const groups = [...labels]
    .sort(([one], [other]) => Number(one === BUILT_IN) - Number(other === BUILT_IN))
    .map(([provider, label]) => ({ label, options: optionsOf(provider, { named, providers }) }))
    .filter(({ options }) => options.length > 0);
  const isKnown = chosen === null || groups.some(({ options }) => options.some(isOption(chosen)));
  const first = { value: null, label: `${fallback} (default)` };
  return [{ label: '', options: isKnown ? [first] : [first, { value: chosen, label: chosen }] }, ...groups];
}

const isOption = (value: string) => (option: ModelOption) => option.value === value;

function optionsOf(provider: string, { named, providers }: Pick<Known, 'named' | 'providers'>) {
  const listed = providers.find((one) => one.provider === provider)?.models ?? [];
  const options = listed.map(({ id, name }): ModelOption => ({ value: id, label: name }));
  const others = named.filter((one) => one.provider === provider && !options.some(isOption(one.id)));
  return [...others.map(({ id }): ModelOption => ({ value: id, label: id })), ...options];
}

export type Matches = {
  readonly groups: readonly ModelGroup[];
  /** number of models in `groups`, and of all that match */
  readonly shown: number;
  readonly total: number;
};

/** Every word of the query is in the name or the provider. A name that is not listed can be used as well. */
export function matching(groups: readonly ModelGroup[], query: string, most: number): Matches {
  const name = query.trim();
  const words = name.toLowerCase().split(/\s+/);
  const found = groups.map(({ label, options }) => ({
    label,
    options: options.filter((option) => {
      const text = `${option.label} ${label}`.toLowerCase();
      return words.every((word) => text.includes(word));
    }),
  }));
  let left = most;
  const cut = found.map(({ label, options }) => {
    if (label === '') return { label, options };
    const kept = options.slice(0, left);
    left -= kept.length;
    return { label, options: kept };
  });
  const isListed = groups.some(({ options }) =>
    options.some(({ value, label }) => value === name || label === name),
  );
  const other = { label: 'Other', options: [{ value: name, label: `Use “${name}”` }] };
  return {
    groups: [...cut.filter(({ options }) => options.length > 0), ...(name === '' || isListed ? [] : [other])],
    shown: countModels(cut),
    total: countModels(found),
  };
}

/** The first group repeats the default, or has a name that no provider lists. */
const countModels = (groups: readonly ModelGroup[]): number =>
  groups.reduce((sum, { label, options }) => sum + (label === '' ? 0 : options.length), 0);
