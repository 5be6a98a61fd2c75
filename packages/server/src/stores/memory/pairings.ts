import type { Pairing, PairingRequest } from '../../core/ports/pairings.ts';
import { storable } from '../shared/text.ts';

const byTime = (time: (one: Pairing) => number) => (one: Pairing, other: Pairing) =>
  time(one) - time(other) || (one.id < other.id ? -1 : 1);

type Others = {
  readonly hasUser: (name: string) => boolean;
  readonly hasKey: (id: string) => boolean;
  readonly changed: () => void;
};

export function memoryPairings({ hasUser, hasKey, changed }: Others) {
  const requests = new Map<string, PairingRequest>();
  const pairings = new Map<string, Pairing>();
  const named = (owner: string | null) => (owner === null ? null : storable(owner));

  return {
    request(given: PairingRequest, max: number): boolean {
      for (const { id, expiresAt } of [...requests.values()])
        if (expiresAt <= given.createdAt) requests.delete(id);
      const isTaken = [...requests.values()].some(({ code }) => code === given.code);
      if (requests.size >= max || isTaken) return false;
      requests.set(given.id, { ...given, name: storable(given.name), origin: storable(given.origin) });
      return true;
    },
    requests: (): PairingRequest[] => [...requests.values()],
    findRequest: (id: string): PairingRequest | null => requests.get(storable(id)) ?? null,
    requestWith: (code: string): PairingRequest | null =>
      [...requests.values()].find((request) => request.code === storable(code)) ?? null,
    takeRequest(id: string): PairingRequest | null {
      const found = requests.get(storable(id)) ?? null;
      requests.delete(storable(id));
      return found;
    },
    find: (id: string): Pairing | null => pairings.get(storable(id)) ?? null,
    list: (owner?: string | null): Pairing[] =>
      [...pairings.values()]
        .filter((pairing) => owner === undefined || pairing.owner === named(owner))
        .sort(byTime(({ allowedAt }) => allowedAt)),
    add(pairing: Pairing): boolean {
      const owner = named(pairing.owner);
      if (owner !== null && !hasUser(owner)) return false;
      if (pairing.key !== null && !hasKey(pairing.key)) return false;
      if (pairings.has(pairing.id)) throw new Error('a pairing with this id exists');
      const { name, origin } = pairing;
      pairings.set(pairing.id, { ...pairing, owner, name: storable(name), origin: storable(origin) });
      return true;
    },
    hasOrigin: (origin: string): boolean =>
      [...pairings.values()].some((pairing) => pairing.origin === storable(origin)),
    remove(id: string, owner?: string | null): boolean {
      const found = pairings.get(storable(id));
      if (!found || (owner !== undefined && found.owner !== named(owner))) return false;
      pairings.delete(found.id);
      changed();
      return true;
    },
    /** Does not notify: the caller removes the user in the same step. */
    removeOf(owner: string): void {
      for (const pairing of [...pairings.values()])
        if (pairing.owner === storable(owner)) pairings.delete(pairing.id);
    },
    /** Does not notify: the caller removes the API key in the same step. */
    removeWith(key: string): void {
      for (const pairing of [...pairings.values()])
        if (pairing.key === storable(key)) pairings.delete(pairing.id);
    },
    used(times: ReadonlyMap<string, number>): void {
      for (const [id, at] of times) {
        const found = pairings.get(storable(id));
        if (found) pairings.set(found.id, { ...found, lastUsedAt: Math.max(at, found.lastUsedAt ?? at) });
      }
    },
  };
}
