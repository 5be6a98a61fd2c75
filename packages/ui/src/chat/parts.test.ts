import { expect, test } from 'bun:test';
import { type About, EMPTY, type SessionView, type TurnView } from '@parlance/sdk';
import { attachmentOf, LIMITS, NotAdded, problemWith } from './attachments.ts';
import { costOf, costOfSession } from './cost.ts';
import { rowsOf } from './rows.ts';

const input = (id: string) =>
  ({
    input: id,
    parts: [{ type: 'text', text: id }],
    dialect: 'native',
    superseded: null,
    at: 0,
    seqs: [1],
  }) as never;
const turn = (id: string, rest: object = {}) =>
  ({
    kind: 'turn',
    turn: id,
    input: input(`input-${id}`),
    agent: { id: 'coder', name: 'Coder' },
    model: null,
    items: [],
    open: null,
    state: { status: 'ended', durationMs: 1, context: {} },
    steps: 1,
    usage: { inputTokens: 1_000_000, outputTokens: 500_000 },
    at: 0,
    seqs: [],
    ...rest,
  }) as unknown as TurnView;
const view = (entries: TurnView[], rest: Partial<SessionView> = {}): SessionView => ({
  ...EMPTY,
  entries,
  ...rest,
});
const text = (block: string, words: string) =>
  ({
    kind: 'text',
    block,
    text: words,
    state: 'ended',
    durationMs: null,
    step: 0,
    at: 0,
    seqs: [2],
  }) as never;

test('a turn becomes rows: input, items and end', () => {
  const rows = rowsOf(view([turn('a', { items: [text('b1', 'Hi')] })], { queued: [input('later')] }));
  expect(rows.map(({ key }) => key)).toEqual(['input input-a', 'a b1', 'a end', 'queued later']);
});

test('unchanged rows stay the same object', () => {
  const first = turn('a', { items: [text('b1', 'Hi')] });
  const before = rowsOf(
    view([first, turn('b', { items: [text('b2', 'H')], open: 'b2', state: { status: 'running' } })]),
  );
  const after = rowsOf(
    view([first, turn('b', { items: [text('b2', 'Hi')], open: 'b2', state: { status: 'running' } })]),
  );
  expect(after.slice(0, 3).every((row, index) => row === before[index])).toBe(true);
  expect(after.at(-1)?.key).toBe(before.at(-1)?.key as string);
  expect(after.at(-1)).not.toBe(before.at(-1) as never);
});

test('a running turn without an open block shows that it is working', () => {
  const running = { state: { status: 'running' } };
  const call = (phase: string) => ({
    kind: 'call',
    call: 'c',
    tool: 'x',
    input: {},
    approval: null,
    state: { phase },
    seqs: [],
  });
  const last = (rest: object) => rowsOf(view([turn('a', { ...running, ...rest })])).at(-1)?.kind;
  expect(last({})).toBe('working');
  expect(last({ items: [call('ended')] })).toBe('working');
  expect(last({ items: [call('waiting')] })).toBe('item');
  expect(last({ items: [{ kind: 'question', state: { status: 'pending' }, seqs: [] }] })).toBe('item');
  expect(last({ items: [text('b', 'x')], open: 'b' })).toBe('item');
});

const about = {
  model: 'm',
  vendors: [{ name: 'openai' }],
  agents: [{ id: 'coder', model: null }],
} as unknown as About;

test('shows a cost only if all prices are known', () => {
  const price = { input: 2, output: 10 };
  expect(costOfSession(view([turn('a'), turn('b')]), about, { m: price })).toBe(14);
  expect(costOfSession(view([turn('a'), turn('b', { model: 'other' })]), about, { m: price })).toBeNull();
  expect(costOfSession(view([turn('a', { model: 'openai:m' })]), about, { m: price })).toBe(7);
  expect(costOfSession(view([turn('a', { model: 'llama:m' })]), about, { m: price })).toBeNull();
  expect(costOfSession(view([turn('a')]), about, {})).toBeNull();
});

test('cached input has its own price', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 600_000 };
  expect(costOf(usage, { input: 10, output: 0, cached: 1 })).toBeCloseTo(4.6);
  expect(costOf(usage, { input: 10, output: 0 })).toBeCloseTo(10);
});

test('a rejected file names its size and the limit', () => {
  const png = { name: 'a.png', type: 'image/png', size: LIMITS.image + 1 };
  expect(problemWith(png, [])).toContain('5.0 MB');
  expect(problemWith({ ...png, size: 10 }, [])).toBeNull();
  expect(problemWith({ ...png, size: 10 }, Array(LIMITS.files).fill({ bytes: 1 }))).toContain('10 files');
  expect(problemWith({ ...png, size: LIMITS.image }, [{ bytes: LIMITS.image }])).toContain('7.0 MB in total');
  expect(problemWith({ name: 'a.svg', type: 'image/svg+xml', size: 10 }, [])).toContain('PNG');
  expect(problemWith({ name: 'a.txt', type: 'text/plain', size: LIMITS.text + 1 }, [])).toContain('256 KB');
  expect(problemWith({ name: 'a.txt', type: 'text/plain', size: 0 }, [])).toContain('empty');
});

test('accepts pictures and text files, and nothing else', async () => {
  const picture = await attachmentOf(new File([new Uint8Array([1, 2, 3])], 'a.png', { type: 'image/png' }));
  expect(picture.part).toEqual({ type: 'image', mime: 'image/png', data: 'AQID' });
  const file = await attachmentOf(new File(['let x;\n'], 'a.ts', { type: '' }));
  expect(file.part).toEqual({ type: 'file', name: 'a.ts', mime: 'text/plain', data: btoa('let x;\n') });
  const binary = new File([new Uint8Array([0xff, 0xfe, 0])], 'a.bin');
  expect(attachmentOf(binary)).rejects.toBeInstanceOf(NotAdded);
});
