import { beforeEach, describe, expect, test } from 'bun:test';
import { type ConnectionId, LOCAL, PrincipalId } from '@parlance/protocol';
import { type ClientProgress, type ClientRequest, OutcomeUnknown, type ToolClient } from '../ports/tool.ts';
import { ClientToolBroker, type Dispatch } from './client-tools.ts';

const REQUEST: ClientRequest = {
  tool: 'open_url',
  parameters: {},
  schema: {},
  permissions: [],
  timeoutMs: 60_000,
  unavailable: 'No client offers open_url',
};

let broker: ClientToolBroker;
let reports: ClientProgress[];
/** received requests, in order */
let asked: { connection: string; execution: string }[];
beforeEach(() => {
  broker = new ClientToolBroker();
  reports = [];
  asked = [];
});

const id = (name: string) => name as ConnectionId;
const client = (name: string, offered: readonly string[]): ToolClient => ({
  connection: id(name),
  owner: LOCAL.id,
  offer: { tools: offered, fallback: offered.includes('fallback') },
  executionId: (run) => `exec_${run.id}`,
  request: (execution) => asked.push({ connection: name, execution }),
});
const register = (name: string, ...offered: string[]) => broker.register(client(name, offered));
const dispatch = (more: Partial<Dispatch> = {}) =>
  broker.dispatch({
    run: { id: '1', at: 0 },
    owner: LOCAL.id,
    prefer: undefined,
    request: REQUEST,
    signal: new AbortController().signal,
    report: (progress) => reports.push(progress),
    ...more,
  });
const statuses = () => reports.map((report) => report.status);
const OK = { ok: true, result: 'done' } as const;

describe('a call executed by a client', () => {
  test('ends with its client’s first answer', async () => {
    register('a', 'open_url');
    register('b');
    const result = dispatch();
    expect(broker.answer(id('b'), 'exec_1', { ok: true, result: 'forged' })).toBe(false);
    expect(broker.answer(id('a'), 'exec_2', { ok: true, result: 'lost' })).toBe(false);
    expect(broker.progress(id('b'), 'exec_1', { status: 'completed' })).toBe(false);
    expect(broker.progress(id('a'), 'exec_1', { status: 'executing', progress: 50 })).toBe(true);
    expect(broker.answer(id('a'), 'exec_1', OK)).toBe(true);
    expect(await result).toBe('done');
    expect(broker.answer(id('a'), 'exec_1', { ok: true, result: 'late' })).toBe(false);
    expect(statuses()).toEqual(['queued', 'executing', 'executing', 'completed']);
  });

  test('fails if no client of the owner offers the tool', async () => {
    const message = REQUEST.unavailable;
    await expect(dispatch()).rejects.toThrow(message);
    register('a', 'open_url');
    await expect(dispatch({ owner: PrincipalId.parse('uma') })).rejects.toThrow(message);
    expect(broker.offers(LOCAL.id, 'open_url')).toBe(true);
    expect(broker.offers(PrincipalId.parse('uma'), 'open_url')).toBe(false);
  });

  test('fails if the client does not answer in time', async () => {
    register('a', 'open_url');
    const result = dispatch({ request: { ...REQUEST, timeoutMs: 1 } });
    await expect(result).rejects.toThrow('Tool execution timeout: open_url');
    expect(statuses()).toEqual(['queued', 'executing', 'timeout']);
    expect(broker.answer(id('a'), 'exec_1', OK)).toBe(false);
  });

  test('has an unknown outcome if the client disconnects', async () => {
    register('a', 'open_url');
    const result = dispatch();
    broker.unregister(id('a'));
    await expect(result).rejects.toThrow(
      new OutcomeUnknown('Client disconnected during tool execution: open_url.'),
    );
    await expect(result).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(statuses()).toEqual(['queued', 'executing', 'failed']);
    expect(broker.offers(LOCAL.id, 'open_url')).toBe(false);
  });

  test('ends if the turn is cancelled', async () => {
    register('a', 'open_url');
    const controller = new AbortController();
    const result = dispatch({ signal: controller.signal });
    controller.abort();
    await expect(result).rejects.toThrow('aborted');
    expect(statuses()).toEqual(['queued', 'executing', 'failed']);
  });

  test('is not requested if the turn was already cancelled', async () => {
    register('a', 'open_url');
    await expect(dispatch({ signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    expect(asked).toEqual([]);
  });

  test('fails immediately if the request cannot be sent, and frees its slot', async () => {
    const request = () => {
      throw new Error('the socket is broken');
    };
    broker.register({ ...client('a', ['open_url']), request });
    await expect(dispatch()).rejects.toThrow('the socket is broken');
    expect(broker.answer(id('a'), 'exec_1', OK)).toBe(false);
  });

  test('fails with the message of the client', async () => {
    register('a', 'open_url');
    const result = dispatch();
    broker.answer(id('a'), 'exec_1', { ok: false, kind: 'network', message: 'offline', recoverable: true });
    await expect(result).rejects.toThrow('Tool execution failed [network]: offline');
    expect(reports.at(-1)).toEqual({ status: 'failed', message: 'offline' });
  });

  test('is sent at most three times, if the client asks for a retry', async () => {
    const again = {
      ok: false,
      kind: 'timeout',
      message: 'busy',
      recoverable: true,
      retryAfterMs: 0,
    } as const;
    broker.register({
      ...client('a', ['open_url']),
      request(execution) {
        asked.push({ connection: 'a', execution });
        queueMicrotask(() => broker.answer(id('a'), execution, again));
      },
    });
    const result = dispatch();
    await expect(result).rejects.toThrow('Tool execution failed [timeout]: busy');
    expect(asked.map(({ execution }) => execution)).toEqual(['exec_1', 'exec_1_2', 'exec_1_3']);
  });
});

describe('client selection', () => {
  const chosen = (prefer?: string, run = '1') => {
    dispatch({ prefer: prefer === undefined ? undefined : id(prefer), run: { id: run, at: 0 } }).catch(
      () => undefined,
    );
    return asked.at(-1)?.connection;
  };

  test('picks the preferred client if it offers the tool', () => {
    register('a', 'open_url');
    register('b', 'open_url', 'read_page');
    register('c', 'scroll_to_element');
    expect(chosen('b')).toBe('b');
    expect(chosen('c', '2')).toBe('a');
  });

  test('prefers a client that names the tool to a fallback', () => {
    register('a', 'fallback');
    expect(chosen('a')).toBe('a');
    register('b', 'open_url');
    expect(chosen('a', '2')).toBe('b');
  });

  test('picks the least busy client, also after it has registered again', () => {
    register('a', 'open_url');
    register('b', 'open_url');
    expect(chosen(undefined, '1')).toBe('a');
    register('a', 'open_url');
    expect(chosen(undefined, '2')).toBe('b');
    expect(chosen(undefined, '3')).toBe('a');
  });
});
