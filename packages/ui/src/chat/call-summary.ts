/** What a call is about, in one line. Pure. */
import { patchedFiles } from '@parlance/protocol/patch';
import type { CallView } from '@parlance/sdk';
import { commandLine } from '../components/approval/approval-text.ts';
import { isCommand } from './call-input.tsx';

const MAX_LENGTH = 200;
const MAIN = ['command', 'path', 'query', 'url', 'pattern', 'agent', 'text'] as const;

/** The main argument: command, path or query, files of a patch, steps of a plan, or else the first text. */
export function callSummary({ input, approval }: Pick<CallView, 'input' | 'approval'>): string {
  const { command, patch } = input;
  if (isCommand(command)) return commandLine(command);
  if (typeof patch === 'string')
    return firstLine([...new Set(patchedFiles(patch).map(({ path }) => path))].join(', '));
  if (Array.isArray(input.steps))
    return `${input.steps.length} ${input.steps.length === 1 ? 'step' : 'steps'}`;
  const texts = [...MAIN.map((key) => input[key]), approval?.ask.description, ...Object.values(input)];
  return firstLine(texts.find((value) => typeof value === 'string' && value !== '') ?? '');
}

const firstLine = (text: unknown): string =>
  String(text).trim().split('\n', 1)[0]?.slice(0, MAX_LENGTH) ?? '';
