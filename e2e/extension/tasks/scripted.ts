/** A model that follows a script: it reads the page it receives, and finds elements by name. */
import { type Answer, type ChatRequest, type ScriptedModel, scriptedModel } from '../../scripted-model.ts';

export type Script = {
  readonly query: string;
  /** Actions; `{name}` or `{name @ text beside it}` becomes the number of an element. The last is the answer to the user. */
  readonly steps: readonly string[];
};

export function taskModel(scripts: readonly Script[]): ScriptedModel {
  return scriptedModel((request) => {
    const script = scripts.find(({ query }) => textsOf(request).some((text) => text.startsWith(query)));
    if (!script) return { say: 'There is no script for that.' };
    const done = request.messages.filter(({ role }) => role === 'assistant').length;
    return stepOf(script.steps, done, request);
  });
}

const PLAN: Answer = { call: 'browser_plan', input: { steps: [{ description: 'Do it', toolType: 'DOM' }] } };
const finish = (message: string): Answer => ({
  call: 'browser_finish',
  input: { outcome: 'completed', message },
});

function stepOf(steps: readonly string[], done: number, request: ChatRequest): Answer {
  if (done === 0) return PLAN;
  const step = steps[done - 1];
  if (step === undefined || done === steps.length) return finish(step ?? 'Done.');
  const texts = textsOf(request);
  const page = texts.findLast((text) => text.includes('<<<PAGE CONTENT')) ?? '';
  const action = step.replace(/\{([^}]+)\}/g, (_, name: string) => numberOf(name, page));
  return { call: 'browser_act', input: { thought: step, action } };
}

/** If it is not found, a number that no page has. */
function numberOf(wanted: string, page: string): string {
  const [name = '', beside] = wanted.split(' @ ');
  const lines = page.split('\n').filter((line) => /^\[\d+\] \w+ "/.test(line));
  const named = lines.filter((line) => /^\[\d+\] \w+ "([^"]*)"/.exec(line)?.[1] === name);
  const found = beside === undefined ? named[0] : named.find((line) => line.includes(beside));
  return /^\[(\d+)\]/.exec(found ?? '')?.[1] ?? '99999';
}

function textsOf({ messages }: ChatRequest): string[] {
  return messages.flatMap(({ content }) => {
    if (typeof content === 'string') return [content];
    return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '') : [];
  });
}
