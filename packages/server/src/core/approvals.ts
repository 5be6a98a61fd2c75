/** May a call run unasked? One small policy for every tool. */
import type { Ask } from '@parlance/protocol';

/**
 * `suggest`: everything that a tool wants shown is asked. `auto-edit`: edits inside the working directory run.
 * `full-auto`: everything runs; the server refuses this mode where there is no sandbox.
 */
export type ApprovalMode = 'suggest' | 'auto-edit' | 'full-auto';

export function mayRun(mode: ApprovalMode, ask: Ask | null, grants: readonly string[]): boolean {
  if (ask === null || mode === 'full-auto') return true;
  if (mode === 'auto-edit' && ask.kind === 'edit') return true;
  return ask.grant !== undefined && grants.includes(ask.grant);
}

/** Over exactly what is shown and what will run, so that an answer cannot be moved to another call. */
export function approvalHash(tool: string, input: object, ask: Ask): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify([tool, input, ask])).digest('hex');
}

const YES = new Set(['yes', 'y', 'approve']);
const NO = new Set(['no', 'n', 'deny']);

/** A message that is just a word of consent or refusal, for dialects that have no frame for it. */
export function spokenAnswer(text: string): 'once' | 'deny' | null {
  const word = text.trim().toLowerCase();
  if (YES.has(word)) return 'once';
  return NO.has(word) ? 'deny' : null;
}
