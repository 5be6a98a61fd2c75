import { describe, expect, test } from 'bun:test';
import type { CallId, TurnId } from '@parlance/protocol';
import { Answer } from './request-turn.ts';
import type { TurnUpdate } from './turn-updates.ts';

const turn = 'turn' as TurnId;
const one = 'one' as CallId;

const text = (words: string, block = 'a'): TurnUpdate => ({ turn, kind: 'text', block, text: words });
const restarted: TurnUpdate = { turn, kind: 'restarted', shown: true };
const step: TurnUpdate = { turn, kind: 'step', usage: { inputTokens: 1, outputTokens: 2 }, stop: 'done' };
const written = (offset: number, words: string): TurnUpdate => ({
  turn,
  kind: 'arguments',
  call: one,
  tool: 'mine',
  offset,
  text: words,
});
const blocked = (input: { city?: string }): TurnUpdate => ({
  turn,
  kind: 'blocked',
  approvals: [],
  questions: [],
  since: { seq: 1, at: 1 },
  deferred: [{ call: one, tool: 'mine', input }],
});

const shownBy = (answer: Answer, ...updates: TurnUpdate[]) =>
  updates.flatMap((update) => (update.kind === 'blocked' ? answer.ask(update.deferred) : answer.add(update)));
const streamed = () => new Answer(true, (tool) => tool === 'mine');

describe('text', () => {
  test('of two blocks is separated by an empty line', () => {
    const answer = streamed();
    shownBy(answer, text('One.'), step, text('Two.', 'b'), step);
    expect(answer.text).toBe('One.\n\nTwo.');
    expect(answer.usage).toMatchObject({ inputTokens: 2, outputTokens: 4 });
  });

  test('that the model repeats after a restart is not sent again', () => {
    const answer = streamed();
    const shown = shownBy(answer, text('One '), restarted, text('On', 'b'), text('e two', 'b'), step);
    expect(shown).toEqual([
      { kind: 'text', text: 'One ' },
      { kind: 'text', text: 'two' },
    ]);
  });

  test('that differs or is shorter after a restart is an error', () => {
    expect(() => shownBy(streamed(), text('One '), restarted, text('Two', 'b'))).toThrow('was interrupted');
    expect(() => shownBy(streamed(), text('One '), restarted, text('One', 'b'), step)).toThrow(
      'was interrupted',
    );
  });

  test('that was not sent yet is replaced after a restart', () => {
    const answer = new Answer(false, () => false);
    shownBy(answer, text('One '), restarted, text('Two', 'b'), step);
    expect(answer.text).toBe('Two');
  });
});

describe('reasoning', () => {
  const thought = (words: string): TurnUpdate => ({ turn, kind: 'reasoning', block: 'r', text: words });

  test('is collected from all steps, without discarded attempts', () => {
    const answer = new Answer(false, () => false);
    shownBy(answer, thought('No'), restarted, thought('Hm, '), thought('yes.'), step, thought('Done.'));
    expect(answer.reasoning).toBe('Hm, yes.\n\nDone.');
  });

  test('is sent once, even if the step restarts', () => {
    const answer = streamed();
    expect(shownBy(answer, thought('Hm.'), restarted, restarted, thought('So.'))).toHaveLength(1);
    expect(answer.reasoning).toBe('Hm.');
  });
});

describe('calls', () => {
  test('are sent in pieces with their index, and the rest at the end', () => {
    const shown = shownBy(streamed(), written(0, ''), written(0, '{"city":'), blocked({ city: 'Rome' }));
    expect(shown).toEqual([
      { kind: 'call', index: 0, call: one, tool: 'mine' },
      { kind: 'arguments', index: 0, text: '{"city":' },
      { kind: 'arguments', index: 0, text: '"Rome"}' },
    ]);
  });

  test('are sent whole if the model does not stream them; without arguments as an empty object', () => {
    expect(shownBy(streamed(), blocked({}))).toEqual([
      { kind: 'call', index: 0, call: one, tool: 'mine' },
      { kind: 'arguments', index: 0, text: '{}' },
    ]);
  });

  test('that were sent cannot be retracted', () => {
    expect(() => shownBy(streamed(), written(0, '{'), restarted)).toThrow('was interrupted');
    expect(() => shownBy(streamed(), written(0, '{'), { turn, kind: 'ended' })).toThrow('was interrupted');
  });

  test('of tools that other clients execute are not sent', () => {
    const answer = new Answer(true, () => false);
    expect(shownBy(answer, written(0, '{'), blocked({}))).toEqual([]);
    expect(answer.finish).toBe('done');
  });
});
