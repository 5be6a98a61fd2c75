/** Commands of the native API. */
import type { CommandInput } from '@parlance/protocol';
import type { Example, Known } from './example.ts';

const command = (
  type: CommandInput['type'],
  title: string,
  rest: (known: Known) => object = () => ({}),
): Example => ({ type, title, frame: (known) => ({ type, ...rest(known) }) });

const says = (text: string) => [{ type: 'text', text }];

export const NATIVE: readonly Example[] = [
  command('session.create', 'Begin the session', () => ({ title: 'Playground' })),
  command('input.submit', 'Say something', () => ({ parts: says('count to 20') })),
  command('input.submit', 'Ask for a command that needs approval', () => ({
    parts: says('run touch hello.txt'),
  })),
  command('input.submit', 'Interrupt what is running', () => ({
    parts: says('count to 3'),
    mode: 'supersede',
  })),
  command('input.submit', 'Ask for a tool by name, without the model', () => ({
    parts: says(''),
    call: { tool: 'echo', input: { value: 'Hello' } },
  })),
  command('approval.answer', 'Approve once', () => ({ answer: 'once' })),
  command('approval.answer', 'Deny, and say why', ({ approval }) => ({
    ...(approval === undefined ? {} : { approval }),
    answer: 'deny',
    reason: 'Not this file.',
  })),
  command('approval.explain', 'Have it explained'),
  command('turn.cancel', 'Stop the turn'),
  command('call.answer', 'Say what came of a deferred call', ({ call = 'the id of a call' }) => ({
    call,
    parts: says('It is done.'),
  })),
  command('context.compact', 'Make the context smaller'),
  command('session.clear', 'Empty the context'),
  command('session.rename', 'Give it a title', () => ({ title: 'Counting' })),
  command('session.configure', 'Let edits run unasked', () => ({ approval: 'auto-edit' })),
  command('session.label', 'Set words beside it', () => ({ labels: { topic: 'counting' } })),
  command('grant.revoke', 'Take back what “always” has allowed', () => ({ grant: 'touch' })),
  command('session.archive', 'Put it away'),
];
