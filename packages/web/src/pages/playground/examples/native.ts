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
  command('session.create', 'Create the session', () => ({ title: 'Playground' })),
  command('input.submit', 'Send a message', () => ({ parts: says('count to 20') })),
  command('input.submit', 'Ask for a command that needs approval', () => ({
    parts: says('run touch hello.txt'),
  })),
  command('input.submit', 'Interrupt the running turn', () => ({
    parts: says('count to 3'),
    mode: 'supersede',
  })),
  command('input.submit', 'Call a tool by name, without the model', () => ({
    parts: says(''),
    call: { tool: 'echo', input: { value: 'Hello' } },
  })),
  command('approval.answer', 'Approve once', () => ({ answer: 'once' })),
  command('approval.answer', 'Deny with a reason', ({ approval }) => ({
    ...(approval === undefined ? {} : { approval }),
    answer: 'deny',
    reason: 'Not this file.',
  })),
  command('approval.explain', 'Ask for an explanation'),
  command('turn.cancel', 'Stop the turn'),
  command('call.answer', 'Return the result of a deferred call', ({ call = 'the id of a call' }) => ({
    call,
    parts: says('It is done.'),
  })),
  command('context.compact', 'Compact the context'),
  command('session.clear', 'Clear the context'),
  command('session.rename', 'Rename', () => ({ title: 'Counting' })),
  command('session.configure', 'Allow edits without asking', () => ({ approval: 'auto-edit' })),
  command('session.label', 'Set labels', () => ({ labels: { topic: 'counting' } })),
  command('grant.revoke', 'Take back what “always” has allowed', () => ({ grant: 'touch' })),
  command('session.archive', 'Archive the session'),
];
