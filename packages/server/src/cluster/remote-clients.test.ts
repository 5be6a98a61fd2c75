import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { type ConnectionId, Fault, LOCAL, PrincipalId } from '@parlance/protocol';
import { ClientToolBroker, type Dispatch } from '../core/engine/client-tools.ts';
import type { Log } from '../core/ports/telemetry.ts';
import { type ClientProgress, type ClientRequest, OutcomeUnknown } from '../core/ports/tool.ts';
import { SYSTEM_CLOCK } from '../lib/clock.ts';
import { until } from '../testing/until.ts';
import { type MemoryNetwork, openMemoryNetwork } from './memory-transport.ts';
import { RemoteCalls, RemoteClients } from './remote-clients.ts';

import type { Transport } from './transport.ts';

const REQUEST: ClientRequest = {
  tool: 'open_url',
  parameters: { url: 'https://example.com' },
  schema: {},
  permissions: ['navigation'],
  timeoutMs: 60_000,
  unavailable: 'No client offers open_url',
};
const OWNER = LOCAL.id;
const ignore = () => undefined;
const LOG: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const id = (name: string) => name as ConnectionId;

/** A node with its broker, and the requests to its clients as `connection execution`. */
class Node {
  readonly broker = new ClientToolBroker();
  readonly asked: string[] = [];
  readonly reports: ClientProgress[] = [];
  readonly #runs = { count: 0 };

  private constructor(readonly transport: Transport) {}

  static async open(network: MemoryNetwork, name: string): Promise<Node> {
    const node = new Node(network.open(name, { log: LOG }));
    await until(() => node.transport.up);
    node.broker.attach(new RemoteClients(node.transport, () => crypto.randomUUID(), SYSTEM_CLOCK));
    new RemoteCalls(node.transport, node.broker, LOG, SYSTEM_CLOCK);
    return node;
  }

  connect(connection: string, tools: readonly string[], { fallback = false, owner = OWNER } = {}): void {
    this.broker.register({
      connection: id(connection),
      owner,
      offer: { tools, fallback },
      executionId: (run) => `exec_${run.id}`,
      request: (execution) => this.asked.push(`${connection} ${execution}`),
    });
  }

  dispatch(more: Partial<Dispatch> = {}): Promise<unknown> {
    const run = { id: String(++this.#runs.count), at: 0 };
    return this.broker.following(OWNER, () =>
      this.broker.dispatch({
        run,
        owner: OWNER,
        prefer: undefined,
        request: REQUEST,
        signal: new AbortController().signal,
        report: (progress) => this.reports.push(progress),
        ...more,
      }),
    );
  }

  answer(connection: string, result: string): boolean {
    const execution = this.asked.at(-1)?.split(' ')[1] ?? '';
    return this.broker.answer(id(connection), execution, { ok: true, result });
  }
}

describe('a tool of a client connected to another node', () => {
  let network: MemoryNetwork;
  let driver: Node;
  let other: Node;
  beforeEach(async () => {
    network = openMemoryNetwork();
    [driver, other] = [await Node.open(network, 'driver'), await Node.open(network, 'other')];
  });
  afterEach(() => Promise.all([driver.transport.close(), other.transport.close()]));

  const connected = (): Promise<unknown> =>
    driver.broker.following(OWNER, () => until(() => driver.broker.offers(OWNER, 'open_url')));

  test('is offered while the owner is followed and the client is connected', async () => {
    expect(driver.broker.offers(OWNER, 'open_url')).toBe(false);
    other.connect('browser', ['open_url']);
    await driver.broker.following(OWNER, async () => {
      await until(() => driver.broker.offers(OWNER, 'open_url'));
      expect(driver.broker.offers(OWNER, 'close_tab')).toBe(false);
      expect(driver.broker.offers(PrincipalId.parse('someone'), 'open_url')).toBe(false);
      other.broker.unregister(id('browser'));
      await until(() => !driver.broker.offers(OWNER, 'open_url'));
    });
  });

  test('runs there, with its progress and its result', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    const result = driver.dispatch();
    await until(() => other.asked.length === 1);
    other.broker.progress(id('browser'), 'exec_1', { status: 'executing', progress: 50 });
    expect(other.answer('browser', 'opened')).toBe(true);
    expect(await result).toBe('opened');
    await until(() => driver.reports.length === 4);
    expect(driver.reports).toEqual([
      { status: 'queued' },
      { status: 'executing' },
      { status: 'executing', progress: 50 },
      { status: 'completed', progress: 100 },
    ]);
  });

  test('runs on this node if a local client offers it, unless the turn came from the other node', async () => {
    other.connect('there', ['open_url']);
    await connected();
    driver.connect('here', ['open_url']);
    const first = driver.dispatch();
    await until(() => driver.asked.length === 1);
    driver.answer('here', 'here');
    expect(await first).toBe('here');
    const second = driver.dispatch({ prefer: id('there') });
    await until(() => other.asked.length === 1);
    other.answer('there', 'there');
    expect(await second).toBe('there');
  });

  test('is preferred over a fallback client of this node', async () => {
    driver.connect('stand-in', [], { fallback: true });
    other.connect('browser', ['open_url']);
    await driver.broker.following(OWNER, async () => {
      const result = driver.dispatch();
      await until(() => other.asked.length + driver.asked.length === 1);
      other.answer('browser', 'named');
      expect(await result).toBe('named');
    });
  });

  test('fails with the error of the client, and has an unknown outcome if the client disconnects', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    const refused = driver.dispatch().catch((thrown: unknown) => thrown);
    await until(() => other.asked.length === 1);
    const answer = { ok: false, kind: 'PERMISSION', message: 'not allowed', recoverable: false } as const;
    other.broker.answer(id('browser'), 'exec_1', answer);
    expect(await refused).toEqual(
      new Fault('tool_failed', 'Tool execution failed [PERMISSION]: not allowed'),
    );
    const lost = driver.dispatch().catch((thrown: unknown) => thrown);
    await until(() => other.asked.length === 2);
    other.broker.unregister(id('browser'));
    const outcome = await lost;
    expect(outcome).toBeInstanceOf(OutcomeUnknown);
    expect(outcome).toEqual(new OutcomeUnknown('Client disconnected during tool execution: open_url.'));
  });

  test('stops when the turn is cancelled', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    const controller = new AbortController();
    const result = driver.dispatch({ signal: controller.signal }).catch((thrown: unknown) => thrown);
    await until(() => other.asked.length === 1);
    controller.abort();
    expect(await result).toEqual(new Fault('cancelled', 'aborted'));
    await until(() => !other.answer('browser', 'late'));
  });

  test('has an unknown outcome if its node fails while it runs', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    const result = driver.dispatch().catch((thrown: unknown) => thrown);
    await until(() => other.asked.length === 1);
    driver.transport.registry.forget('other');
    expect(await result).toBeInstanceOf(OutcomeUnknown);
  });

  test('delivers its result after a bus outage', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    const result = driver.dispatch();
    await until(() => other.asked.length === 1);
    network.down();
    expect(driver.broker.offers(OWNER, 'open_url')).toBe(false);
    other.answer('browser', 'after all');
    network.up();
    expect(await result).toBe('after all');
  });

  test('is unavailable while the bus is down', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    network.down();
    const failure = await driver.dispatch().catch((thrown: unknown) => thrown);
    expect(failure).toEqual(new Fault('tool_failed', 'No client offers open_url'));
  });

  test('runs only for the client’s owner', async () => {
    other.connect('browser', ['open_url']);
    await connected();
    const body = {
      id: 'forged',
      owner: 'someone',
      connection: 'browser',
      run: { id: '1', at: 0 },
      request: { ...REQUEST, permissions: [] },
    };
    const forged = driver.transport.request('other', { kind: 'tool.request', body }, 60_000);
    await expect(forged).rejects.toThrow('not connected');
    expect(other.asked).toEqual([]);
  });
});
