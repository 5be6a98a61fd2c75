/** Answers of the model in the sessions of the fixture. */
import type { Answer, ChatRequest } from '../scripted-model.ts';

const shell = (...command: string[]): Answer => ({ call: 'shell', input: { command } });
const act = (action: string): Answer => ({
  call: 'browser_act',
  input: { thought: `I will ${action}.`, action, step: 0 },
});
const PLAN: Answer = {
  call: 'browser_plan',
  input: { steps: [{ description: 'Submit the form', toolType: 'DOM' }] },
};

/** The answers to a user's message, in order. */
export const SCRIPT: Readonly<Record<string, readonly Answer[]>> = {
  'Think of a river': [{ think: 'A river is wanted.', say: 'The Danube – “Donau” 🏞️.' }],
  'Echo the word': [{ call: 'echo', input: { value: 'parlance' } }, { say: 'It came back.' }],
  'Make a file': [shell('touch', 'made'), { say: 'It is made.' }],
  'Make another file': [shell('touch', 'another'), { say: 'Made, too.' }],
  'Make no file': [shell('touch', 'never'), { say: 'Then I will not.' }],
  'Make it or leave it': [shell('touch', 'left')],
  'Make a file later': [shell('touch', 'later'), { say: 'Now it is made.' }],
  'Sleep for a while': [shell('sleep', '15'), { say: 'I do not know how it ended.' }],
  'Break off once': [{ say: 'Half of ', after: 'cut' }, { say: 'Now whole.' }],
  'Hand it over': [
    { call: 'handoff', input: { agent: 'tester', reason: 'It needs tests.' } },
    { say: 'The tester is here.' },
  ],
  'Fail at once': [{ status: 400 }],
  'Never end': [{ say: 'It goes on ', after: 'silence' }],
  'Submit the form': [
    PLAN,
    { call: 'browser_ask', input: { question: 'In which name?', missing: ['name'] } },
    act('click(4)'),
    { call: 'browser_finish', input: { outcome: 'completed', message: 'It is submitted.' } },
  ],
  'Click and wait': [PLAN, act('click(4)')],
};

/** Interrupted answers are retried with the same messages. */
const asked = new Map<string, number>();

export function scripted({ messages }: ChatRequest): Answer {
  if (String(messages[0]?.content).startsWith('Summarise')) return { say: 'They spoke of rivers.' };
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const words = JSON.stringify(messages[last]?.content);
  const message = Object.keys(SCRIPT)
    .filter((key) => words.includes(key))
    .sort((one, other) => other.length - one.length)[0];
  if (message === undefined) return { say: 'Yes.' };
  const count = asked.get(message) ?? 0;
  asked.set(message, count + 1);
  const step = messages.slice(last + 1).filter(({ role }) => role === 'assistant').length;
  return SCRIPT[message]?.[message === 'Break off once' ? count : step] ?? { say: 'Done.' };
}
