import { beforeEach, describe, expect, test } from 'bun:test';
import { type ConnectionId, LOCAL, PrincipalId } from '@parlance/protocol';
import {
  type ClientProgress,
  type ClientRequest,
  ClientToolBroker,
  type Dispatch,
} from './client-tool-broker.ts';

const REQUEST: ClientRequest = {
  tool: 'open_url',
  parameters: {},
  schema: {},
  permissions: [],
  timeoutMs: 60_000,
};

let desk: ClientToolBroker;
let reports: ClientProgress[];
/** what was asked of whom, in order */
let asked: { connection: string; execution: string }[];
beforeEach(() => {
  desk = new ClientToolBroker();
  reports = [];
  asked = [];
});

const id = (name: string) => name as ConnectionId;
const register = (name: string, ...capabilities: string[]) =>
  desk.register({
    connection: id(name),
    owner: LOCAL.id,
    capabilities,
    request: (execution) => asked.push({ connection: name, execution }),
  });
const dispatch = (more: Partial<Dispatch> = {}) =>
  desk.dispatch({
    execution: 'exec_1',
    owner: LOCAL.id,
    prefer: undefined,
    request: REQUEST,
    signal: new AbortController().signal,
    report: (progress) => reports.push(progress),
    ...more,
  });
const statuses = () => reports.map((report) => report.status);
const OK = { ok: true, result: 'done' } as const;

describe('a call at a client', () => {
  test('ends with the first answer of the client that has it', async () => {
    register('a', 'open_url');
    register('b');
    const result = dispatch();
    expect(desk.answer(id('b'), 'exec_1', { ok: true, result: 'forged' })).toBe(false);
    expect(desk.answer(id('a'), 'exec_2', { ok: true, result: 'lost' })).toBe(false);
    expect(desk.progress(id('b'), 'exec_1', { status: 'completed' })).toBe(false);
    expect(desk.progress(id('a'), 'exec_1', { status: 'executing', progress: 50 })).toBe(true);
    expect(desk.answer(id('a'), 'exec_1', OK)).toBe(true);
    expect(await result).toBe('done');
    expect(desk.answer(id('a'), 'exec_1', { ok: true, result: 'late' })).toBe(false);
    expect(statuses()).toEqual(['queued', 'executing', 'executing', 'completed']);
  });

  test('fails where no client offers the tool, or only one of another owner', async () => {
    const message = 'No browser extension client available for tool: open_url';
    await expect(dispatch()).rejects.toThrow(message);
    register('a', 'open_url');
    await expect(dispatch({ owner: PrincipalId.parse('uma') })).rejects.toThrow(message);
    expect(desk.offers(LOCAL.id, 'open_url')).toBe(true);
    expect(desk.offers(PrincipalId.parse('uma'), 'open_url')).toBe(false);
  });

  test('fails when there is no answer in time', async () => {
    register('a', 'open_url');
    const result = dispatch({ request: { ...REQUEST, timeoutMs: 1 } });
    await expect(result).rejects.toThrow('Tool execution timeout: open_url');
    expect(statuses()).toEqual(['queued', 'executing', 'timeout']);
    expect(desk.answer(id('a'), 'exec_1', OK)).toBe(false);
  });

  test('fails when the client goes', async () => {
    register('a', 'open_url');
    const result = dispatch();
    desk.unregister(id('a'));
    await expect(result).rejects.toThrow('Client disconnected during tool execution: open_url');
    expect(statuses()).toEqual(['queued', 'executing', 'failed']);
    expect(desk.offers(LOCAL.id, 'open_url')).toBe(false);
  });

  test('ends when the turn is cancelled', async () => {
    register('a', 'open_url');
    const controller = new AbortController();
    const result = dispatch({ signal: controller.signal });
    controller.abort();
    await expect(result).rejects.toThrow('aborted');
    expect(statuses()).toEqual(['queued', 'executing', 'failed']);
  });

  test('is never asked for where the turn was cancelled before', async () => {
    register('a', 'open_url');
    await expect(dispatch({ signal: AbortSignal.abort() })).rejects.toThrow('aborted');
    expect(asked).toEqual([]);
  });

  test('fails at once where the request cannot be sent, and holds no place', async () => {
    const request = () => {
      throw new Error('the socket is broken');
    };
    desk.register({ connection: id('a'), owner: LOCAL.id, capabilities: ['open_url'], request });
    await expect(dispatch()).rejects.toThrow('the socket is broken');
    expect(desk.answer(id('a'), 'exec_1', OK)).toBe(false);
  });

  test('fails with the words of the client', async () => {
    register('a', 'open_url');
    const result = dispatch();
    desk.answer(id('a'), 'exec_1', { ok: false, kind: 'network', message: 'offline', recoverable: true });
    await expect(result).rejects.toThrow('Tool execution failed [network]: offline');
    expect(reports.at(-1)).toEqual({ status: 'failed', message: 'offline' });
  });

  test('is asked three times at most, where the client asks for it', async () => {
    const again = {
      ok: false,
      kind: 'timeout',
      message: 'busy',
      recoverable: true,
      retryAfterMs: 0,
    } as const;
    desk.register({
      connection: id('a'),
      owner: LOCAL.id,
      capabilities: ['open_url'],
      request(execution) {
        asked.push({ connection: 'a', execution });
        queueMicrotask(() => desk.answer(id('a'), execution, again));
      },
    });
    const result = dispatch();
    await expect(result).rejects.toThrow('Tool execution failed [timeout]: busy');
    expect(asked.map(({ execution }) => execution)).toEqual(['exec_1', 'exec_1_2', 'exec_1_3']);
  });
});

describe('the choice of a client', () => {
  const chosen = (prefer?: string, execution = 'exec_1') => {
    dispatch({ prefer: prefer === undefined ? undefined : id(prefer), execution }).catch(() => undefined);
    return asked.at(-1)?.connection;
  };

  test('is the preferred one where it offers the tool', () => {
    register('a', 'open_url');
    register('b', 'all_tools');
    register('c', 'scroll_to_element');
    expect(chosen('b')).toBe('b');
    expect(chosen('c', 'exec_2')).toBe('a');
  });

  test('is one that names the tool before one that offers the browser as a whole', () => {
    register('a', 'browser_api_access');
    expect(chosen('a')).toBe('a');
    register('b', 'open_url');
    expect(chosen('a', 'exec_2')).toBe('b');
  });

  test('is the least busy one, also after it registered again', () => {
    register('a', 'open_url');
    register('b', 'open_url');
    expect(chosen(undefined, 'exec_1')).toBe('a');
    register('a', 'open_url');
    expect(chosen(undefined, 'exec_2')).toBe('b');
    expect(chosen(undefined, 'exec_3')).toBe('a');
  });
});
