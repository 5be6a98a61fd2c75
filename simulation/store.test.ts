/** The store model behaves like the real stores: it passes their contract, and random histories have the same answers. */
import { describe, expect, test } from 'bun:test';
import type { SessionStore } from '../packages/server/src/core/ports/event-store.ts';
import type { AppendAs, Leases } from '../packages/server/src/core/ports/lease.ts';
import type { Store } from '../packages/server/src/stores/shared/store.ts';
import { openSqliteStore } from '../packages/server/src/stores/sqlite/open.ts';
import { appendingContract } from '../packages/server/src/testing/stores/contract/appending.ts';
import { erasingContract } from '../packages/server/src/testing/stores/contract/erasing.ts';
import { leasesContract } from '../packages/server/src/testing/stores/contract/leases.ts';
import { listingContract } from '../packages/server/src/testing/stores/contract/listing.ts';
import { lookupContract } from '../packages/server/src/testing/stores/contract/lookup.ts';
import { readingContract } from '../packages/server/src/testing/stores/contract/reading.ts';
import { recordOf, refOf, textEvents } from '../packages/server/src/testing/stores/contract/samples.ts';
import { scratchFolder } from '../packages/server/src/testing/stores/contract/scratch.ts';
import type { Implementation } from '../packages/server/src/testing/stores/contract/store-location.ts';
import { openMemoryStore } from '../packages/server/src/testing/stores/memory/store.ts';
import { noPostgres, openNode, testServer } from '../packages/server/src/testing/stores/postgres.ts';
import { Random } from './random.ts';
import { connect, Database } from './store.ts';
import { Process, World } from './world.ts';

type LeasedStore = SessionStore & { readonly leases: Leases };

/** Runs the world until the answer of each call is there. */
function pumped<Methods extends object>(world: World, methods: Methods): Methods {
  return new Proxy(methods, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function' || name === 'good') return value;
      // The next heartbeat tells.
      if (name === 'onLost') setTimeout(() => world.run(world.now + 2_000), 0);
      return (...given: unknown[]) => {
        let settled = false;
        const answer = value.apply(target, given);
        const settle = () => {
          settled = true;
        };
        Promise.resolve(answer).then(settle, settle);
        world.run(world.now + 60_000, () => settled);
        return answer;
      };
    },
  });
}

const nothing = () => undefined;

class Model {
  readonly #world = new World(1);
  readonly #database: Database;
  #nodes = 0;

  constructor(shared: boolean) {
    this.#database = new Database(this.#world, shared, nothing, nothing);
  }

  async open(): Promise<LeasedStore> {
    const process = new Process(this.#world, `n${++this.#nodes}`);
    const store = connect(this.#database, process);
    let joined = false;
    const joining = store.join().then(() => {
      joined = true;
    });
    this.#world.run(this.#world.now + 60_000, () => joined);
    await joining;
    const close = async () => {
      if (process.ended) return;
      await store.leave();
      process.kill();
    };
    return pumped(this.#world, { ...store, leases: pumped(this.#world, store.leases), close });
  }
}

describe('the store model', () => {
  for (const shared of [false, true]) {
    const implementation: Implementation = {
      place: () => {
        const model = new Model(shared);
        return {
          open: async () => ({ ...openMemoryStore(), ...(await model.open()) }) as Store,
          dispose: nothing,
        };
      },
      forgets: 'it is a model',
      ...(!shared && { singleNode: 'it is in one process' }),
    };
    describe(shared ? 'shared by nodes' : 'of one node', () => {
      describe('appending', () => appendingContract(implementation));
      describe('reading', () => readingContract(implementation));
      describe('listing', () => listingContract(implementation));
      describe('lookup', () => lookupContract(implementation));
      describe('erasing', () => erasingContract(implementation));
      describe('leases', () => leasesContract(implementation));
    });
  }
});

const OPERATIONS = 120;

/** A random history of one or two nodes on three sessions; returns each answer, with epochs and nodes by order of appearance. */
async function history(seed: number, stores: readonly LeasedStore[]): Promise<string[]> {
  const random = new Random(seed);
  const refs = ['a', 'b', 'c'].map((id) => refOf('ada', id));
  const epochs: number[] = [0];
  const nodes = stores.map(({ leases }) => leases.node);
  const heads = new Map<string, number>();
  const named = (value: unknown): string =>
    JSON.stringify(value, (key, inner) => {
      if (typeof inner === 'object' && inner !== null && !Array.isArray(inner))
        return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)));
      if (key === 'epoch' && !epochs.includes(inner)) epochs.push(inner);
      if (key === 'epoch') return `epoch ${epochs.indexOf(inner)}`;
      return nodes.includes(inner) ? `node ${nodes.indexOf(inner)}` : inner;
    });
  const answers: string[] = [];
  for (let step = 0; step < OPERATIONS; step++) {
    const index = random.between(0, stores.length - 1);
    const store = stores[index];
    const ref = random.pick(refs);
    if (!store) continue;
    const head = (heads.get(ref.id) ?? 0) + (random.chance(0.1) ? random.between(-1, 1) : 0);
    const epoch = random.pick(epochs);
    const act = async (): Promise<unknown> => {
      const kind = random.unit();
      if (kind < 0.55) {
        const status = random.pick(['running', 'running', 'waiting', 'idle'] as const);
        const as: AppendAs = random.chance(0.4)
          ? { by: 'driver', epoch }
          : { by: 'command', take: random.pick(['never', 'if-free', 'always']) };
        const count = random.between(1, 3);
        const record = recordOf(ref, head + count, { status });
        const driver = await store.append(
          Math.max(0, head),
          textEvents(ref, Math.max(0, head), count),
          { ...record, head: Math.max(0, head) + count },
          as,
        );
        heads.set(ref.id, Math.max(0, head) + count);
        return driver;
      }
      if (kind < 0.65) return store.leases.claim(ref);
      if (kind < 0.72) return store.leases.release({ ref, epoch });
      if (kind < 0.78) return store.leases.driverOf(ref);
      if (kind < 0.82)
        return (await store.leases.takeOver(random.between(1, 3))).map(({ ref: { id } }) => id).sort();
      if (kind < 0.86) return store.read(ref, random.between(0, 5), random.between(1, 9));
      if (kind < 0.9) return store.head(ref);
      if (kind < 0.94) return store.load(ref);
      if (kind < 0.97) return (await store.list({ limit: 5 })).sessions.map((record) => record.ref.id);
      const erased = await store.erase(ref);
      heads.delete(ref.id);
      return erased;
    };
    const answer = await act().then(named, (thrown: Error) => thrown.name);
    answers.push(`${step} n${index} ${ref.id} ${answer}`);
  }
  return answers;
}

describe('the same random histories', () => {
  const server = testServer();

  test('have the same answers in the model and in SQLite', async () => {
    for (let seed = 1; seed <= 10; seed++) {
      using folder = scratchFolder();
      const sqlite = openSqliteStore(folder.path);
      const real = await history(seed, [sqlite]);
      await sqlite.close();
      expect(await history(seed, [await new Model(false).open()])).toEqual(real);
    }
  });

  test.skipIf(noPostgres)(
    'have the same answers in the model and in PostgreSQL, with two nodes',
    async () => {
      for (let seed = 1; seed <= 10; seed++) {
        const { newDatabase, giveBack } = server();
        const url = await newDatabase();
        const nodes = [await openNode(url), await openNode(url)];
        const real = await history(seed, nodes);
        for (const node of nodes) await node.close();
        await giveBack(url);
        const model = new Model(true);
        expect(await history(seed, [await model.open(), await model.open()])).toEqual(real);
      }
    },
  );
});
