import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type DurableEvent,
  type DurableEventBody,
  isDurable,
  type SessionId,
  textPart,
} from '@parlance/protocol';
import { evolve } from '../../core/session/evolve.ts';
import { initialState } from '../../core/session/session-state.ts';
import { readTranscript, transcriptPath } from '../../testing/transcripts.ts';
import { messagesOf, startMessages, stepMessages } from './outbound.ts';

const START = Date.UTC(2026, 0, 30, 10);

const durableOf = (...bodies: unknown[]): DurableEvent[] =>
  (bodies as DurableEventBody[]).map((body, index) => ({
    ...body,
    session: 'session-1' as SessionId,
    id: `event-${index}`,
    at: START + index,
    seq: index + 1,
  }));

const turn = 'turn-1';
const input = (...texts: string[]) => ({
  type: 'input.accepted',
  input: 'input-1',
  dialect: 'copilot',
  parts: texts.map(textPart),
});
const requested = (tool: string, input: object) => ({
  type: 'call.requested',
  turn,
  call: 'call-1',
  tool,
  input,
});
const deferred = { type: 'call.deferred', turn, call: 'call-1' };
const ended = (outcome: string, text: string, more: object = {}) => ({
  type: 'tool.ended',
  turn,
  call: 'call-1',
  outcome,
  parts: [textPart(text), textPart('the page')],
  durationMs: 0,
  ...more,
});
const said = (text: string, more: object = {}) => ({ type: 'text.ended', turn, block: 'b', text, ...more });
const act = requested('browser_act', { thought: 'I click it.', action: 'click(42)' });

const NAMES = readdirSync(dirname(transcriptPath('any'))).map((file) => file.replace(/\.jsonl$/, ''));

describe('the message count equals the number of messages', () => {
  test.each(NAMES)('%s', (name) => {
    const events = readTranscript(name).filter(isDurable);
    const { messageCount: said } = events.reduce(evolve, initialState({ id: 'agent', name: 'Agent' }));
    const messages = messagesOf(events);
    expect(messages.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
      Array.from({ length: said }, (_, index) => index),
    );
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(said);
  });
});

test('an input is a message of the user: its first part, without the page', () => {
  expect(messagesOf(durableOf(input('Go to Google', '<html>')))).toEqual([
    {
      messageId: 'event-0',
      role: 'user',
      content: 'Go to Google',
      sequenceNumber: 0,
      timestamp: '2026-01-30T10:00:00.000Z',
      metadata: { dialect: 'copilot' },
    },
  ]);
});

test('an action is its thought, with the outcome that the client reports later', () => {
  const message = {
    messageId: 'event-1',
    role: 'assistant',
    content: 'I click it.',
    actionString: 'click(42)',
    actionPayload: { name: 'click', id: 42 },
    sequenceNumber: 0,
    timestamp: '2026-01-30T10:00:00.001Z',
    metadata: { taskId: turn },
  };
  const messagesAfter = (...events: object[]): unknown => messagesOf(durableOf(act, deferred, ...events));
  expect(messagesAfter()).toEqual([{ ...message, status: 'pending' }]);
  expect(messagesAfter(ended('ok', 'Clicked.'))).toEqual([{ ...message, status: 'success' }]);
  expect(messagesAfter(ended('failed', 'No such element.'))).toEqual([
    {
      ...message,
      status: 'failure',
      error: { message: 'No such element.', code: 'ACTION_FAILED', action: 'click(42)' },
    },
  ]);
});

test('an invalid action has no payload; a question has no outcome', () => {
  const odd = requested('browser_act', { thought: 'Hm.', action: 'dance()' });
  expect(messagesOf(durableOf(odd, deferred))[0]).not.toHaveProperty('actionPayload');
  const question = requested('browser_ask', { question: 'Which colour?' });
  const [asked] = messagesOf(durableOf(question, deferred, ended('ok', 'Blue')));
  expect(asked).toMatchObject({ role: 'assistant', content: 'Which colour?' });
  expect(asked).not.toHaveProperty('status');
});

test('a call that ends the task has the result', () => {
  const finish = requested('browser_finish', { outcome: 'completed', message: 'Done.' });
  const last = { final: true, parts: [textPart('Done.')] };
  expect(messagesOf(durableOf(finish, ended('ok', '', last)))).toMatchObject([
    { content: 'Done.', status: 'success', actionString: 'finish()' },
  ]);
  expect(messagesOf(durableOf(finish, ended('failed', '', last)))).toMatchObject([
    { content: 'Done.', status: 'failure', actionString: 'fail()' },
  ]);
  expect(messagesOf(durableOf(finish, ended('ok', 'not the end')))).toEqual([]);
});

test('interrupted text is marked, and empty text is left out', () => {
  const messages: unknown = messagesOf(durableOf(said('Half', { interrupted: true }), said('')));
  expect(messages).toMatchObject([{ content: 'Half', metadata: { taskId: turn, interrupted: true } }]);
});

test('folding step by step gives the same messages, without later outcomes', () => {
  const events = durableOf(input('Click'), act, deferred, ended('ok', 'Clicked.'), said('Done.'));
  let state = startMessages(7);
  const stepped = events.flatMap((event) => {
    const [next, messages] = stepMessages(state, event);
    state = next;
    return messages;
  });
  expect(state).toEqual({ next: 10, calls: new Map(), plan: null });
  expect(stepped.map(({ sequenceNumber }) => sequenceNumber)).toEqual([7, 8, 9]);
  const whole = messagesOf(events, 7);
  expect(stepped).toEqual(
    whole.map((message) => (message.status ? { ...message, status: 'pending' } : message)),
  );
});
