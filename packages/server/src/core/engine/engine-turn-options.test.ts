import { expect, test } from 'bun:test';
import { type CallId, type CommandInput, textPart } from '@parlance/protocol';
import { CALLER, createHarness, SESSION, say } from '../../testing/harness.ts';
import { calls, type Line, says, USAGE } from '../../testing/scripted-provider.ts';

const WEATHER = {
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

const submit = (more: Partial<Extract<CommandInput, { type: 'input.submit' }>>): CommandInput => ({
  type: 'input.submit',
  parts: [textPart('Go')],
  ...more,
});

const asksForBoth: Line[] = [
  { type: 'call', call: 'one', tool: 'weather', input: { city: 'Rome' } },
  { type: 'call', call: 'two', tool: 'weather', input: { city: 'Oslo' } },
  { type: 'ended', usage: USAGE, stop: 'calls' },
];

const answer = (call: string, text: string): CommandInput => ({
  type: 'call.answer',
  call: call as CallId,
  parts: [textPart(text)],
});

test('tools, instructions and options of an input apply to its turn only', async () => {
  const { engine, provider } = await createHarness([says('One.'), says('Two.')]);
  const options = { temperature: 0.5, maxOutputTokens: 100 };
  const more = { tools: [WEATHER], agentTools: false, instructions: 'Rhyme.', options };
  await engine.send(SESSION, submit(more), CALLER);
  await engine.whenIdle(SESSION);
  await say(engine, 'Again');
  await engine.whenIdle(SESSION);
  const [first, second] = provider.prompts;
  expect(first).toMatchObject({ instructions: 'Rhyme.', tools: [WEATHER], options });
  expect(second?.options).toBeUndefined();
  expect(second?.instructions).toStartWith('Be brief.');
  expect(second?.tools.map(({ name }) => name)).toContain('lookup');
  expect(second?.tools.map(({ name }) => name)).not.toContain('weather');
});

test('context is appended to the agent’s or caller’s instructions, in its turn only', async () => {
  const { engine, provider } = await createHarness([says('One.'), says('Two.'), says('Three.')]);
  for (const more of [{ context: 'It rains.' }, { context: 'It rains.', instructions: 'Rhyme.' }, {}]) {
    await engine.send(SESSION, submit(more), CALLER);
    await engine.whenIdle(SESSION);
  }
  const [first, second, third] = provider.prompts.map(({ instructions }) => instructions);
  expect(first).toStartWith('Be brief.');
  expect(first).toEndWith('\n\nIt rains.');
  expect(second).toBe('Rhyme.\n\nIt rains.');
  expect(third).not.toContain('It rains.');
});

test('the caller’s tools are added to the agent’s, and replace those with the same name', async () => {
  const { engine, provider } = await createHarness([says('Done.')]);
  const tools = [WEATHER, { ...WEATHER, name: 'lookup' }];
  await engine.send(SESSION, submit({ tools }), CALLER);
  await engine.whenIdle(SESSION);
  const offered = provider.prompts[0]?.tools ?? [];
  expect(offered.filter(({ name }) => name === 'lookup')).toEqual([{ ...WEATHER, name: 'lookup' }]);
  expect(offered.map(({ name }) => name)).toContain('shell');
});

test('calls of the caller’s tools wait for its answers in parallel, also in another process', async () => {
  const first = await createHarness([asksForBoth]);
  await first.engine.send(SESSION, submit({ tools: [WEATHER], instructions: 'Rhyme.' }), CALLER);
  await first.engine.whenIdle(SESSION);
  const deferred = first.events.flatMap((event) =>
    event.type === 'call.deferred' ? [String(event.call)] : [],
  );
  expect(deferred).toEqual(['one', 'two']);
  expect((await first.engine.record(SESSION))?.status).toBe('waiting');

  const second = await createHarness([says('Done.')], { store: first.store });
  const open = async () => (await second.engine.snapshot(SESSION)).deferred.map(({ call }) => String(call));
  expect(await open()).toEqual(['one', 'two']);
  await second.engine.send(SESSION, answer('two', 'snow'), CALLER);
  expect(await open()).toEqual(['one']);
  expect(second.provider.prompts).toHaveLength(0);
  await second.engine.send(SESSION, answer('one', 'sun'), CALLER);
  await second.engine.whenIdle(SESSION);
  const [prompt] = second.provider.prompts;
  expect(prompt?.instructions).toBe('Rhyme.');
  expect(prompt?.tools).toContainEqual(WEATHER);
  expect(prompt?.items.flatMap((item) => (item.kind === 'result' ? [item.call] : []))).toEqual([
    'one',
    'two',
  ]);
});

test('an answer may change the terms for the rest of its turn', async () => {
  const { engine, provider } = await createHarness([asksForBoth, says('Done.'), says('Again.')]);
  await engine.send(SESSION, submit({ tools: [WEATHER], instructions: 'Rhyme.' }), CALLER);
  await engine.whenIdle(SESSION);
  await engine.send(SESSION, answer('one', 'sun'), CALLER);
  const terms = { agentTools: false, instructions: 'In prose.' };
  const attributes = { request: 'second' };
  const { events } = await engine.send(
    SESSION,
    { ...answer('two', 'snow'), terms, attributes } as CommandInput,
    CALLER,
  );
  expect(events).toMatchObject([{ type: 'tool.ended', terms, attributes }]);
  await engine.whenIdle(SESSION);
  expect(provider.prompts[1]).toMatchObject({ instructions: 'In prose.', tools: [] });
  await say(engine, 'Again');
  await engine.whenIdle(SESSION);
  expect(provider.prompts[2]?.instructions).toStartWith('Be brief.');
});

test('the answer to an approval may change the terms', async () => {
  const asks = calls('shell', { command: ['npm', 'test'] });
  const { engine, provider } = await createHarness([asks, says('Done.')]);
  await say(engine, 'Go');
  await engine.whenIdle(SESSION);
  const terms = { agentTools: false, instructions: 'In prose.' };
  await engine.send(SESSION, { type: 'approval.answer', answer: 'deny', terms }, CALLER);
  await engine.whenIdle(SESSION);
  expect(provider.prompts[1]).toMatchObject({ instructions: 'In prose.', tools: [] });
});

test('refuses tool names that no model API accepts, and options out of range', async () => {
  const { engine } = await createHarness([]);
  const bad = [{ tools: [{ ...WEATHER, name: 'a b' }] }, { options: { temperature: 3 } }];
  for (const more of bad)
    await expect(engine.send(SESSION, submit(more), CALLER)).rejects.toMatchObject({ code: 'invalid' });
});
