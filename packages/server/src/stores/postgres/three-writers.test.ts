import { describe, expect, test } from 'bun:test';
import type { AppendAs } from '../../core/ports/lease.ts';
import { outcomeOf, recordOf, refOf, textEvent } from '../../testing/stores/contract/samples.ts';
import { noPostgres, openNode, testServer } from '../../testing/stores/postgres.ts';

/** Seeded random numbers, for reproducible runs. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ item }) => item);
}

describe.skipIf(noPostgres)('three nodes that write to the same sessions concurrently', () => {
  const server = testServer();

  test('never deadlock, lose no acknowledged event and leave no gap', async () => {
    const url = await server().newDatabase();
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)]);
    const refs = Array.from({ length: 24 }, (_, index) => refOf(`owner-${index % 5}`, `s${index}`));
    /** acknowledged texts, by session */
    const kept = new Map(refs.map((ref) => [ref, new Map<number, string>()]));
    const seen = new Map<string, number>();

    await Promise.all(
      nodes.map(async (store, node) => {
        const random = seeded(node + 1);
        for (let round = 0; round < 25; round++) {
          await Promise.all(
            shuffled(refs, random).map(async (ref) => {
              const head = await store.head(ref);
              const text = `node ${node} round ${round}`;
              const as: AppendAs = { by: 'command', take: random() < 0.5 ? 'if-free' : 'always' };
              const status = random() < 0.5 ? 'running' : 'idle';
              const record = recordOf(ref, head + 1, { status });
              const outcome = await outcomeOf(
                store.append(head, [textEvent(ref, head + 1, text)], record, as),
              );
              seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
              if (outcome === 'written') kept.get(ref)?.set(head + 1, text);
            }),
          );
        }
      }),
    );

    expect([...seen.keys()].sort()).toEqual(['AppendConflict', 'written']);
    for (const [ref, texts] of kept) {
      const stored = await nodes[0].read(ref, 0, 1_000);
      expect(stored).toEqual(
        [...texts].sort(([one], [other]) => one - other).map(([seq, text]) => textEvent(ref, seq, text)),
      );
    }
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('make progress on a contended row', async () => {
    const url = await server().newDatabase();
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)]);
    const ref = refOf('ada', 'one');
    await nodes[0].append(0, [textEvent(ref, 1)], recordOf(ref, 1));
    const each = Array.from({ length: 10 }, () => nodes).flat();
    await Promise.all(
      each.map((store) =>
        store.exclusively(ref, async ({ read, append }) => {
          const head = (await read(ref, 0, 1_000)).length;
          await append(head, [textEvent(ref, head + 1)], recordOf(ref, head + 1));
        }),
      ),
    );
    expect(await nodes[0].head(ref)).toBe(31);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('create a session once', async () => {
    const url = await server().newDatabase();
    const nodes = await Promise.all([openNode(url), openNode(url), openNode(url)]);
    const refs = Array.from({ length: 50 }, (_, index) => refOf('ada', `s${index}`));
    const outcomes = await Promise.all(
      nodes.flatMap((store, node) =>
        shuffled(refs, seeded(node)).map((ref) =>
          outcomeOf(store.append(0, [textEvent(ref, 1)], recordOf(ref, 1))),
        ),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === 'written').length).toBe(50);
    expect(outcomes.filter((outcome) => outcome === 'AppendConflict').length).toBe(100);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('do not append to a session that was erased and created again', async () => {
    const url = await server().newDatabase();
    const [here, there] = await Promise.all([openNode(url), openNode(url)]);
    const ref = refOf('ada', 'one');
    await here.append(0, [textEvent(ref, 1)], recordOf(ref, 1));
    await there.erase(ref);
    await there.append(0, [textEvent(ref, 1)], recordOf(ref, 1, { createdAt: 1 }));
    const late = here.append(1, [textEvent(ref, 2)], recordOf(ref, 2));
    expect(await outcomeOf(late)).toBe('AppendConflict');
    await Promise.all([here.close(), there.close()]);
  });
});
