/** The state that application and agent share, the steps of other agents, and the plan as an activity: with the official client. */
import { describe, expect, test } from 'bun:test';
import type { HttpAgent, Tool } from '@ag-ui/client';
import type { Answer, ChatRequest } from '../scripted-model.ts';
import { contentOf, httpAgent, run } from './client.ts';
import { sharedServer } from './setup.ts';

const change = (changes: unknown): Answer => ({ call: 'update_state', input: { changes } });
const PAGE: Tool = {
  name: 'page',
  description: 'The open page.',
  parameters: { type: 'object', properties: {} },
};

function answerTo({ messages }: ChatRequest): Answer {
  const asked = String(messages.findLast(({ role }) => role === 'user')?.content);
  const last = messages.at(-1);
  if (asked.includes('then') && last?.role === 'user') return { call: 'page', input: {} };
  if (last?.content === 'Invoices' && asked.includes('then')) return change({ title: 'Then' });
  if (last?.role === 'tool') return { say: `Done: ${last.content}` };
  if (asked.includes('salt'))
    return change({ recipe: { ingredients: ['soup', 'salt'], note: null, 'a/b~c': { x: 1, y: null } } });
  if (asked.includes('nothing')) return change({});
  if (asked.includes('wrong')) return change('salt');
  if (asked.includes('prototype')) return change({ constructor: { x: 1 }, title: 'Safe' });
  if (asked.includes('both'))
    return {
      calls: [
        ['update_state', { changes: { title: 'Both' } }],
        ['page', {}],
      ],
    };
  if (asked.includes('plan'))
    return { call: 'update_plan', input: { steps: [{ step: 'Look', status: 'in_progress' }] } };
  if (asked.includes('delegate'))
    return { call: 'agent', input: { action: 'spawn', agent: 'explore', task: 'Read it', name: 'reader' } };
  return { say: 'Fine.' };
}

const place = sharedServer(answerTo);
const RECIPE = { recipe: { title: 'Soup', ingredients: ['soup'], note: 'hot' } };

const sharing = (state: object, thread?: string): HttpAgent => {
  const agent = httpAgent(place.server.http, thread === undefined ? {} : { thread });
  agent.setState(structuredClone(state));
  return agent;
};
const offered = () => place.model.requests.at(-1)?.tools?.map((tool) => tool.function.name) ?? [];

describe('a shared state', () => {
  test('is read by the model, and changed by its calls', async () => {
    const agent = sharing(RECIPE);
    const { events, types, outcome } = await run(agent, 'add salt');
    expect(outcome).toMatchObject({ type: 'success' });
    expect(outcome?.pendingToolCallIds ?? []).toEqual([]);
    expect(agent.state).toEqual({
      recipe: { title: 'Soup', ingredients: ['soup', 'salt'], 'a/b~c': { x: 1 } },
    });
    expect(events.find(({ type }) => type === 'STATE_DELTA')?.delta).toEqual([
      { op: 'replace', path: '/recipe/ingredients', value: ['soup', 'salt'] },
      { op: 'remove', path: '/recipe/note' },
      { op: 'add', path: '/recipe/a~1b~0c', value: { x: 1 } },
    ]);
    expect(types).toContain('TOOL_CALL_RESULT');
    expect(contentOf(agent.messages, 'assistant').at(-1)).toBe('Done: The state has been changed.');
    expect(JSON.stringify(place.model.requests.at(-1)?.messages)).toContain('\\"title\\":\\"Soup\\"');
    expect(offered()).toContain('update_state');
  });

  test('is sent again with the next message, and as a snapshot to a client that opens the thread', async () => {
    const agent = sharing(RECIPE);
    await run(agent, 'add salt');
    const { types } = await run(agent, 'hello');
    expect(types).not.toContain('STATE_DELTA');
    expect(JSON.stringify(place.model.requests.at(-1)?.messages)).toContain('salt');
    const other = httpAgent(place.server.http, { thread: agent.threadId });
    const look = await run(other, null);
    expect(look.types).toContain('STATE_SNAPSHOT');
    expect(other.state).toEqual(agent.state);
    expect(contentOf(other.messages, 'assistant').at(-1)).toBe('Fine.');
  });

  test('is a snapshot for a client that has sent none, when the turn of another one changes it', async () => {
    const agent = sharing(RECIPE);
    const { outcome } = await run(agent, 'then', { tools: [PAGE] });
    const [toolCallId = ''] = outcome?.pendingToolCallIds ?? [];
    const other = httpAgent(place.server.http, { thread: agent.threadId, messages: [...agent.messages] });
    other.addMessage({ id: 'result', role: 'tool', toolCallId, content: 'Invoices' });
    const { types } = await run(other, null);
    expect(types.filter((type) => type.startsWith('STATE_'))).toEqual(['STATE_SNAPSHOT']);
    expect(other.state).toEqual({ ...RECIPE, title: 'Then' });
    expect(contentOf(other.messages, 'assistant').at(-1)).toBe('Done: The state has been changed.');
  });

  test('is left to a page that has a tool of that name', async () => {
    const agent = sharing(RECIPE);
    const { outcome } = await run(agent, 'add salt', { tools: [{ ...PAGE, name: 'update_state' }] });
    expect(outcome?.pendingToolCallIds).toHaveLength(1);
    expect(agent.state).toEqual(RECIPE);
  });

  test('does not change if there is nothing to change, and the model reads what was wrong', async () => {
    const agent = sharing(RECIPE);
    expect((await run(agent, 'nothing')).types).not.toContain('STATE_DELTA');
    const wrong = await run(agent, 'wrong');
    expect(wrong.types).not.toContain('STATE_DELTA');
    expect(contentOf(agent.messages, 'assistant').at(-1)).toContain('changes must be an object');
    await run(agent, 'prototype');
    expect(agent.state).toEqual({ ...RECIPE, title: 'Safe' });
  });

  test('changes beside a call of the page, whose result continues the turn', async () => {
    const agent = sharing({ title: 'None' });
    const { outcome } = await run(agent, 'both', { tools: [PAGE] });
    expect(outcome?.pendingToolCallIds).toHaveLength(1);
    expect(agent.state).toEqual({ title: 'Both' });
    const [toolCallId = ''] = outcome?.pendingToolCallIds ?? [];
    agent.addMessage({ id: 'result', role: 'tool', toolCallId, content: 'Invoices' });
    const { types } = await run(agent, null, { tools: [PAGE] });
    expect(types).not.toContain('STATE_DELTA');
    expect(types.at(-1)).toBe('RUN_FINISHED');
    expect(contentOf(agent.messages, 'assistant').at(-1)).toContain('Done');
  });

  test('is neither in the prompt nor changed if it is empty, and refused if it is too large', async () => {
    await run(sharing({}), 'hello');
    expect(offered()).not.toContain('update_state');
    expect(JSON.stringify(place.model.requests.at(-1)?.messages)).not.toContain('The state that you share');
    await expect(run(sharing({ text: 'x'.repeat(100_001) }), 'hello')).rejects.toMatchObject({ status: 413 });
  });
});

test('the plan of the agent is an activity', async () => {
  const agent = httpAgent(place.server.http);
  const { events } = await run(agent, 'make a plan');
  expect(events.find(({ type }) => type === 'ACTIVITY_SNAPSHOT')).toMatchObject({
    activityType: 'PLAN',
    content: { steps: [{ step: 'Look', status: 'in_progress' }] },
  });
  expect(agent.messages.filter(({ role }) => role === 'activity')).toHaveLength(1);
  // It comes back with the next request.
  await run(agent, 'hello');
  expect(contentOf(agent.messages, 'assistant').at(-1)).toBe('Fine.');
});

test('the part of a sub-agent is a step', async () => {
  const { events, types } = await run(httpAgent(place.server.http), 'delegate it');
  const steps = events.filter(({ type }) => type.startsWith('STEP_'));
  expect(steps.map(({ type }) => type)).toEqual(['STEP_STARTED', 'STEP_FINISHED']);
  expect(String(steps[0]?.stepName)).toEndWith('reader');
  expect(types.at(-1)).toBe('RUN_FINISHED');
});
