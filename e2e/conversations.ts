/** A model for several conversations at once: each has the answers that its first message names. */
import { type Answer, type ChatRequest, type ScriptedModel, scriptedModel } from './scripted-model.ts';

/** The answer to a step; a function decides when it is asked. */
export type Step = Answer | ((request: ChatRequest) => Answer | Promise<Answer>);

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : JSON.stringify(content ?? '');

/** `scripts`: the steps of a conversation by a text in its first message. A repeated request gets the same step. */
export const scriptedConversations = (scripts: Readonly<Record<string, readonly Step[]>>): ScriptedModel =>
  scriptedModel((request) => {
    const { messages, tools } = request;
    if (!tools) return { say: 'Title' };
    const first = textOf(messages.find(({ role }) => role === 'user')?.content);
    const [, script = []] = Object.entries(scripts).find(([key]) => first.includes(key)) ?? [];
    const step = script[messages.filter(({ role }) => role === 'assistant').length];
    if (step === undefined) return { say: '(no more answers)' };
    return typeof step === 'function' ? step(request) : step;
  });

export const spawn = (name: string, task: string, more: object = {}): readonly [string, object] => [
  'agent',
  { action: 'spawn', agent: 'worker', task, name, ...more },
];
