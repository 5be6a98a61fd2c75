/** Usage in memory. */
import type { Spent } from '@parlance/protocol';
import type {
  UsageCounts,
  UsageEntry,
  UsageFilter,
  UsageLabels,
  UsageRow,
} from '../../../core/ports/event-store.ts';
import { byCodePoint, storable } from '../../../stores/shared/text.ts';

const NONE: UsageCounts = {
  calls: 0,
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  cost: 0,
  unpriced: 0,
  estimated: 0,
};

const added = (one: UsageCounts, other: UsageCounts): UsageCounts =>
  Object.fromEntries(
    Object.keys(NONE).map((name) => [
      name,
      one[name as keyof UsageCounts] + other[name as keyof UsageCounts],
    ]),
  ) as UsageCounts;

export function memoryUsage() {
  let entries: UsageEntry[] = [];
  const claims = new Map<string, { readonly day: string; readonly by: string }>();
  const matching = ({ from, to, ...labels }: UsageFilter) =>
    entries.filter(
      (entry) =>
        (from === undefined || entry.day >= from) &&
        (to === undefined || entry.day <= to) &&
        Object.entries(labels).every(
          ([name, value]) => value === undefined || entry[name as keyof UsageLabels] === storable(value),
        ),
    );
  return {
    add(given: readonly UsageEntry[]): void {
      entries.push(
        ...given.map((entry) => ({
          ...entry,
          owner: storable(entry.owner),
          agent: storable(entry.agent),
          apiKey: storable(entry.apiKey),
          model: storable(entry.model),
        })),
      );
    },
    report(filter: UsageFilter, by: readonly (keyof UsageLabels)[], limit: number): UsageRow[] {
      const keyOf = (entry: UsageEntry) => by.map((name) => entry[name]);
      const groups = [...Map.groupBy(matching(filter), (entry) => JSON.stringify(keyOf(entry)))];
      if (by.length === 0 && groups.length === 0) return [NONE];
      return groups
        .map(([key, group]): [string[], UsageRow] => [
          JSON.parse(key),
          {
            ...Object.fromEntries(by.map((name) => [name, group[0]?.[name]])),
            ...group.reduce<UsageCounts>(added, NONE),
          },
        ])
        .sort(([one], [other]) => {
          const index = one.findIndex((value, at) => value !== other[at]);
          return index < 0 ? 0 : byCodePoint(one[index] ?? '', other[index] ?? '');
        })
        .slice(0, limit)
        .map(([, row]) => row);
    },
    spent(filter: UsageFilter): Spent {
      const { inputTokens, outputTokens, cost } = matching(filter).reduce<UsageCounts>(added, NONE);
      return { tokens: inputTokens + outputTokens, cost };
    },
    claim(name: string, day: string, by: string): string {
      const held = claims.get(name) ?? { day, by };
      claims.set(name, held);
      return held.by;
    },
    prune(before: string): void {
      entries = entries.filter(({ day }) => day >= before);
      for (const [name, { day }] of claims) if (day < before) claims.delete(name);
    },
  };
}
