/** Tools of the caller, and messages of the role system in between. */
import { describe, expect, test } from 'bun:test';
import { durableOf } from '../server-process.ts';
import { failure, sessionOf, textIn } from './client.ts';
import { type Message, messagesServer, user, WEATHER } from './setup.ts';

const { model, server, ask, turnsOf, prompt } = await messagesServer();

describe('tools of the caller', () => {
  test('are the only ones offered, and the results continue the turn', async () => {
    const { data, response } = await ask([user('weather')], { tools: [WEATHER] });
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather']);
    expect(data).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'weather', input: { city: 'Rome' } }],
    });
    const [block] = data.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const result: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'sunny' }] }],
    };
    const history: Message[] = [user('weather'), { role: 'assistant', content: data.content }, result];
    const tools = [
      WEATHER,
      { ...WEATHER, name: 'later' },
      { type: 'web_search_20250305', name: 'web_search' } as never,
    ];
    const next = await ask(history, { tools });
    expect(textIn(next.data)).toBe('It is sunny.');
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(await turnsOf(sessionOf(response))).toBe(1);
    // Tools may change between the requests of a turn.
    expect(model.requests.at(-1)?.tools?.map((tool) => tool.function.name)).toEqual(['weather', 'later']);
  });

  test('several results come at once, beside text, and the model receives them together', async () => {
    const { data, response } = await ask([user('both')], { tools: [WEATHER] });
    const ids = data.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const answered: Message = {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: ids[0] ?? '', content: 'sun' },
        { type: 'tool_result', tool_use_id: ids[1] ?? '', content: 'fog', is_error: true },
        { type: 'text', text: 'hurry' },
      ],
    };
    const before = model.requests.length;
    const next = await ask([user('both'), { role: 'assistant', content: data.content }, answered], {
      tools: [WEATHER],
    });
    expect(textIn(next.data)).toBe('You said hurry.');
    expect(model.requests).toHaveLength(before + 1);
    expect(prompt().slice(-3)).toEqual([
      ['tool', 'sun'],
      ['tool', 'fog'],
      ['user', 'hurry'],
    ]);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    const ended = (await durableOf(server, sessionOf(response))).filter(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject([{ outcome: 'ok' }, { outcome: 'failed' }]);
  });

  test('a result is missing: 400; a message instead of the result closes the call', async () => {
    const { data, response } = await ask([user('both')], { tools: [WEATHER] });
    const [block] = data.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const history: Message[] = [user('both'), { role: 'assistant', content: data.content }];
    const one: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'sun' }],
    };
    expect(await failure(ask([...history, one], { tools: [WEATHER] }))).toMatchObject({ status: 400 });
    const next = await ask([...history, user('never mind')], { tools: [WEATHER] });
    expect(textIn(next.data)).toBe('You said never mind.');
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    const ended = (await durableOf(server, sessionOf(response))).filter(({ type }) => type === 'tool.ended');
    expect(ended).toMatchObject([{ outcome: 'aborted' }, { outcome: 'aborted' }]);
  });

  test('without any, those of the agent run on the server, and only the answer is shown', async () => {
    const { data, response } = await ask([user('echo')]);
    expect(data.stop_reason).toBe('end_turn');
    expect(textIn(data)).toMatch(/^It is .*seen/s);
    expect(data.usage).toMatchObject({ input_tokens: 200, output_tokens: 10 });
    expect((await durableOf(server, sessionOf(response))).map(({ type }) => type)).toContain('tool.ended');
  });
});

describe('messages of the role system', () => {
  const system = (content: string): Message => ({
    role: 'system',
    content: [{ type: 'text', text: content }],
  });

  test('keep their position for the model, and are not an input', async () => {
    const { data, response } = await ask([system('First.'), user('one'), system('Last.')]);
    expect(textIn(data)).toBe('You said one.');
    expect(prompt().slice(-3)).toEqual([
      ['system', 'First.'],
      ['user', 'one'],
      ['system', 'Last.'],
    ]);
    // Later it is sent as a string, which is the same message.
    const next = await ask([
      { role: 'system', content: 'First.' },
      user('one'),
      { role: 'system', content: 'Last.' },
      { role: 'assistant', content: data.content },
      user('two'),
      system('Hurry.'),
    ]);
    expect(sessionOf(next.response)).toBe(sessionOf(response));
    expect(prompt().slice(1)).toEqual([
      ['system', 'First.'],
      ['user', 'one'],
      ['system', 'Last.'],
      ['assistant', 'You said one.'],
      ['user', 'two'],
      ['system', 'Hurry.'],
    ]);
    const inputs = (await durableOf(server, sessionOf(response))).filter(
      ({ type }) => type === 'input.accepted',
    );
    expect(inputs).toMatchObject([{ parts: [{ text: 'one' }] }, { parts: [{ text: 'two' }] }]);
  });

  test('after results, in an imported history, and alone', async () => {
    const { data } = await ask([user('weather')], { tools: [WEATHER] });
    const [block] = data.content;
    const id = block?.type === 'tool_use' ? block.id : '';
    const result: Message = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: 'sun' }],
    };
    const called: Message[] = [user('weather'), { role: 'assistant', content: data.content }];
    for (const history of [
      [...called, result, system('Be brief.')],
      [
        user('before'),
        { role: 'assistant', content: 'Yes.' } as Message,
        ...called,
        system('Be brief.'),
        result,
      ],
    ]) {
      const next = await ask(history, { tools: [WEATHER] });
      expect(textIn(next.data)).toBe('It is sun.');
      expect(prompt().slice(-2)).toEqual([
        ['tool', 'sun'],
        ['system', 'Be brief.'],
      ]);
    }
    const first = await ask([user('hello')]);
    const spoken: Message[] = [user('hello'), { role: 'assistant', content: first.data.content }];
    const alone = await ask([...spoken, system('Once more.')]);
    expect(prompt().at(-1)).toEqual(['system', 'Once more.']);
    expect(sessionOf(alone.response)).toBe(sessionOf(first.response));
  });
});
