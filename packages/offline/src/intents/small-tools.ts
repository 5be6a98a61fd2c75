/** "echo hello", "hand off to the tester". */
import { callPlan, type Intent, request } from '../plan.ts';
import { readable } from '../result.ts';
import { code, shown } from '../text.ts';
import { contentOf } from './paths.ts';

export const echo: Intent = ({ text }) => {
  const value = contentOf(/^echo\s+([\s\S]+)$/i.exec(text)?.[1] ?? '');
  if (value === '') return null;
  const options = [request('echo', { value }), request('shell', { command: ['echo', value] })];
  return callPlan(`echo ${code(value)}`, options, (call) => `The echo came back:${shown(readable(call))}`);
};

const HAND =
  /^hand\s*(?:this\s+|it\s+)?(?:off|over)\s+to\s+(?:the\s+)?([\w-]+)(?:\s+agent)?(?:\s*(?:,|:|because|to|for)\s*(.+))?$/i;

export const handoff: Intent = ({ line }) => {
  const [, said, why] = HAND.exec(line) ?? [];
  if (!said) return null;
  const agent = said.toLowerCase();
  const reason = why?.trim() || `The user asked for the ${agent}.`;
  const options = [request('handoff', { agent, reason })];
  return callPlan(`hand off to the ${agent}`, options, () => `The ${agent} has taken over: ${reason}`);
};
