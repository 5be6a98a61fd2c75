/** Tools of the caller, and of the agent, in the Responses API. */
import { describe, expect, test } from 'bun:test';
import { failure, sessionOf } from './client.ts';
import { callsIn, OWN_TOOLS, responsesServer, WEATHER } from './responses-setup.ts';

const { model, client, ask, turnsOf, promptText, prompt } = await responsesServer();

describe('tools of the caller', () => {
  test('are the only ones offered, and the outputs continue the turn', async () => {
    const { data, response } = await ask('both', { tools: [WEATHER] });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather']);
    expect(data.status).toBe('completed');
    expect(data.tools).toMatchObject([{ type: 'function', name: 'weather' }]);
    const calls = callsIn(data);
    expect(calls.map(({ name, arguments: written }) => [name, written])).toEqual([
      ['weather', '{"city":"Rome"}'],
      ['weather', '{"city":"Oslo"}'],
    ]);
    const outputs = calls.map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'sunny',
    }));
    const next = await ask(outputs, { previous_response_id: data.id, tools: [WEATHER] });
    expect(next.data.output_text).toBe('It is sunny.');
    expect(next.data.output.map(({ type }) => type)).toEqual(['message']);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(await turnsOf(sessionOf(response))).toBe(1);
    expect(await client.responses.retrieve(next.data.id)).toEqual(next.data);
    expect(await client.responses.retrieve(data.id)).toEqual(data);
    const items = await client.responses.inputItems.list(next.data.id);
    expect(items.data.map(({ type }) => type)).toEqual(['function_call_output', 'function_call_output']);
  });

  test('and instructions apply to one request only', async () => {
    const { data } = await ask('weather', { tools: [WEATHER], instructions: 'Rhyme.' });
    const [call] = callsIn(data);
    const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'rain' };
    const next = await ask([output], { previous_response_id: data.id, instructions: 'In prose.' });
    expect(next.data.instructions).toBe('In prose.');
    expect(model.requests.at(-1)?.messages[0]).toMatchObject({ role: 'system', content: 'In prose.' });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).not.toContain('weather');
    const last = await ask('and now', { previous_response_id: next.data.id });
    expect(last.data.instructions).toBeNull();
    expect(promptText()).not.toContain('In prose.');
  });

  test('a result is missing: 400 names the input', async () => {
    const { data } = await ask('both', { tools: [WEATHER] });
    const [call] = callsIn(data);
    const output = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'rain' };
    const failed = await failure(ask([output], { previous_response_id: data.id }));
    expect(failed).toMatchObject({ status: 400, param: 'input' });
  });

  test('beside those of the agent, which run on the server and are shown', async () => {
    const { data } = await ask('echo', { tools: [WEATHER, OWN_TOOLS] });
    const offered = model.requests.at(-1)?.tools?.map((tool) => tool.function.name);
    expect(offered).toContain('weather');
    expect(offered).toContain('echo');
    expect(data.output).toMatchObject([
      {
        type: 'mcp_call',
        server_label: 'parlance',
        name: 'echo',
        arguments: '{"value":"seen"}',
        output: expect.stringContaining('seen'),
        error: null,
      },
      { type: 'message' },
    ]);
    const stream = client.responses.stream({ model: 'fake', input: 'echo', tools: [OWN_TOOLS] });
    expect((await stream.finalResponse()).output.map(({ type }) => type)).toEqual(['mcp_call', 'message']);
  });

  test('of unsupported kinds are left out, and refused as tool_choice', async () => {
    const tools = [{ type: 'web_search' }, { type: 'namespace', name: 'x', tools: [] }, WEATHER] as never;
    const { data } = await ask('weather', { tools });
    expect(data.output.map(({ type }) => type)).toEqual(['function_call']);
    const choice = { type: 'web_search_preview' } as never;
    expect(await failure(ask('hello', { tools, tool_choice: choice }))).toMatchObject({
      status: 400,
      param: 'tool_choice',
    });
  });

  test('outputs beside a new message: the model receives both at once', async () => {
    const { data, response } = await ask('both', { tools: [WEATHER] });
    const outputs = callsIn(data).map(({ call_id }) => ({
      type: 'function_call_output' as const,
      call_id,
      output: 'sunny',
    }));
    const before = model.requests.length;
    const next = await ask([...outputs, { role: 'user', content: 'hurry' }], {
      previous_response_id: data.id,
      tools: [WEATHER],
    });
    expect(next.data.output_text).toBe('You said hurry.');
    expect(model.requests).toHaveLength(before + 1);
    expect(prompt().slice(-3)).toEqual([
      ['tool', 'sunny'],
      ['tool', 'sunny'],
      ['user', 'hurry'],
    ]);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(await client.responses.retrieve(next.data.id)).toEqual(next.data);
    const { data: items } = await client.responses.inputItems.list(next.data.id, { order: 'asc' });
    expect(items.map(({ type }) => type)).toEqual([
      'function_call_output',
      'function_call_output',
      'message',
    ]);
    expect(await client.responses.retrieve(data.id)).toEqual(data);
  });

  test('a message instead of the outputs closes the calls', async () => {
    const { data } = await ask('both', { tools: [WEATHER] });
    const next = await ask('never mind', { previous_response_id: data.id, tools: [WEATHER] });
    expect(next.data.output_text).toBe('You said never mind.');
    expect(prompt().filter(([role]) => role === 'tool')).toEqual([
      ['tool', 'aborted'],
      ['tool', 'aborted'],
    ]);
  });
});
