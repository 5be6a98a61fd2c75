/** Regression inputs that once caused a failure: `to` is a dialect, or a method and a path. */
import type { Hostile } from './hostile.ts';

const deep = (open: string, close: string): string => open.repeat(12_000) + 1 + close.repeat(12_000);

export const PINNED: readonly { readonly to: string; readonly sent: Hostile }[] = [
  // A type that cannot be converted to a string.
  { to: 'broadcast', sent: '{"type":{"toString":1,"valueOf":1}}' },
  { to: 'broadcast', sent: `{"type":${deep('[', ']')}}` },
  // Schemas for arbitrary JSON could overflow the stack.
  { to: 'POST /api/agent/interact', sent: `{"query":"x","interactiveTree":${deep('[', ']')}}` },
  { to: 'POST /api/agent/interact', sent: `{"query":"x","semanticNodes":${deep('{"a":', '}')}}` },
  {
    to: 'POST /v1/sessions/pinned/commands',
    sent: `{"type":"input.submit","parts":[{"type":"text","text":"x"}],"data":{"a":${deep('[', ']')}}}`,
  },
  {
    to: 'POST /v1/sessions/pinned/commands',
    sent: `{"type":"call.answer","call":"x","parts":[],"data":{"a":${deep('{"a":', '}')}}}`,
  },
];
