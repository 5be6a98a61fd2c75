/**
 * Random inputs, interruptions and outages on three nodes: every reader receives each event once, in order,
 * with its text.
 */
import { expect, test } from 'bun:test';
import { type DurableEvent, isDurable, type SessionEvent } from '@parlance/protocol';
import { CALLER, SESSION, say } from '../../testing/harness.ts';
import { HarnessCluster, type HarnessNode } from '../../testing/nodes.ts';
import { until } from '../../testing/until.ts';
import type { Provider } from '../ports/provider.ts';

const SEEDS = (process.env.SEEDS ?? '1 2').split(' ').map(Number);
const STEPS = 120;
const ignore = () => undefined;
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** mulberry32 */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Streams a few words, slowly. */
const slowModel = (random: () => number): Provider => ({
  name: 'slow',
  model: 'slow',
  contextLimit: 100_000,
  async *stream(_prompt, signal) {
    const words = 1 + Math.floor(random() * 12);
    for (let word = 0; word < words && !signal.aborted; word++) {
      yield { type: 'text', text: `word${word} ` };
      if (random() < 0.7) await pause(random() * 4);
    }
    if (!signal.aborted)
      yield { type: 'ended', usage: { inputTokens: 1, outputTokens: words }, stop: 'done' };
  },
});

/** The text of each block as streamed to the reader, except for discarded blocks. */
function checkTexts(events: readonly SessionEvent[], exact: boolean): void {
  const streamed = new Map<string, string>();
  // A node opened later has the beginning of its first block from a snapshot.
  const first = exact ? undefined : events.find((event) => 'block' in event);
  for (const event of events) {
    if (event.type === 'text.delta')
      streamed.set(event.block, (streamed.get(event.block) ?? '') + event.text);
    if (event.type !== 'text.ended') continue;
    const shown = streamed.get(event.block) ?? '';
    if (first && 'block' in first && first.block === event.block) continue;
    if (exact || !event.interrupted) expect(shown).toBe(event.text);
    else expect(shown.startsWith(event.text) || event.text.startsWith(shown)).toBe(true);
  }
}

type Mode = 'nothing' | 'the bus' | 'nodes';

class RandomRun {
  readonly random: () => number;
  readonly cluster: HarnessCluster;
  readonly nodes: HarnessNode[] = [];
  readonly accepted = new Set<string>();
  /** inputs whose node was killed before it responded */
  readonly unanswered = new Set<string>();
  readonly #work: Promise<unknown>[] = [];

  constructor(
    seed: number,
    private readonly fails: Mode,
  ) {
    this.random = randomBy(seed);
    this.cluster = new HarnessCluster(() => this.random() * 3);
  }

  async open(): Promise<HarnessNode> {
    const parts = { provider: slowModel(this.random), retryDelayMs: () => 1, log: QUIET };
    const node = await this.cluster.open([], { parts });
    await node.engine.recover();
    return node;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.random() * items.length)] as Item;
  }

  /** Sends a command to one of the nodes. */
  act(index: number): void {
    const { engine } = this.pick(this.nodes);
    const text = `message ${index}`;
    const choice = this.random();
    const submitted = choice < 0.5;
    if (submitted) this.unanswered.add(text);
    const work: Promise<unknown> = submitted
      ? say(engine, text, choice < 0.25 ? 'supersede' : 'queue')
      : choice < 0.75
        ? engine.send(SESSION, { type: 'turn.cancel' }, CALLER)
        : engine.snapshot(SESSION);
    this.#work.push(
      work.then(
        () => void (submitted && this.unanswered.delete(text) && this.accepted.add(text)),
        (thrown: { code?: string; message: string }) => {
          if (thrown.message === 'killed') return;
          if (thrown.code !== 'no_turn' && thrown.code !== 'storage_unavailable') throw thrown;
          if (thrown.code === 'storage_unavailable') this.unanswered.delete(text);
        },
      ),
    );
  }

  async disturb(): Promise<void> {
    const { network } = this.cluster;
    const choice = this.random();
    if (this.fails === 'the bus') {
      if (choice < 0.3) network.down();
      else if (choice < 0.6) network.cut(this.pick(this.nodes).leases.node);
      else this.mend();
    } else if (choice < 0.5) {
      const node = this.pick(this.nodes);
      node.fence(false);
      await pause(this.random() * 20);
      node.fence(true);
    } else {
      this.nodes.splice(Math.floor(this.random() * this.nodes.length), 1)[0]?.kill();
      this.nodes.push(await this.open());
    }
  }

  mend(): void {
    this.cluster.network.up();
    for (const { leases } of this.nodes) this.cluster.network.repair(leases.node);
  }

  /** Resolves with all events when the cluster is idle and every reader has caught up. */
  async settled(): Promise<DurableEvent[]> {
    const { store } = this.cluster;
    this.mend();
    // A killed node never responds to its commands.
    await Promise.race([Promise.all(this.#work), pause(this.fails === 'nodes' ? 1_000 : 60_000)]);
    await until(async () => (await store.load(SESSION))?.status === 'idle');
    const stored = await store.read(SESSION, 0, 100_000);
    for (const { events } of this.nodes)
      await until(() => events.filter(isDurable).at(-1)?.seq === stored.length);
    return stored;
  }
}

const inputsIn = (events: readonly DurableEvent[]): string[] =>
  events.flatMap((event) =>
    event.type === 'input.accepted' ? event.parts.map((part) => (part.type === 'text' ? part.text : '')) : [],
  );

const CASES = (['nothing', 'the bus', 'nodes'] as const).flatMap((fails) =>
  SEEDS.map((seed) => [fails, seed] as const),
);

test.each(CASES)('three nodes work at random while %s fails, seed %d', async (fails, seed) => {
  const run = new RandomRun(seed, fails);
  while (run.nodes.length < 3) run.nodes.push(await run.open());
  run.act(0);
  for (let index = 1; index <= STEPS; index++) {
    run.act(index);
    if (fails !== 'nothing' && run.random() < 0.1) await run.disturb();
    if (run.random() < 0.6) await pause(run.random() * 10);
  }
  const stored = await run.settled();
  expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
  const inputs = inputsIn(stored);
  expect(new Set(inputs).size).toBe(inputs.length);
  expect(inputs.filter((text) => !run.unanswered.has(text)).sort()).toEqual([...run.accepted].sort());
  for (const { events } of run.nodes) {
    const durable = events.filter(isDurable);
    expect(durable).toEqual(stored.slice(stored.length - durable.length));
    checkTexts(events, fails === 'nothing');
  }
  if (fails === 'nothing') expect(stored.some(({ type }) => type === 'turn.resumed')).toBe(false);
  await Promise.all(run.nodes.map(({ engine }) => engine.drain(0)));
});
