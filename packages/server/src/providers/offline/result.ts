/** Reads what a call gave back. It is data: it is quoted and counted, never obeyed. */
import { isObject } from '@parlance/protocol';
import type { Done } from './turn.ts';

export type Outcome =
  | { readonly kind: 'ok'; readonly output: string; readonly exitCode: number | null }
  | { readonly kind: 'failed'; readonly output: string; readonly exitCode: number | null }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unknown' };

const DENIED =
  /^(?:the user |user )?(?:denied|rejected|refused|declined)(?: (?:this|the|that) \w+)?\s*(?:[:.–-]\s*|$)/i;
const ABORTED = /^(?:tool |call )?(?:was )?(?:aborted|cancelled|interrupted)\b/i;
const UNKNOWN = /\boutcome (?:is )?unknown\b/i;
const EXIT_CODE = /\bexit(?:ed with)?(?: code| status)[:=]?\s*(-?\d+)/i;

export function outcomeOf(done: Done): Outcome {
  const { output, exitCode } = outputOf(done.text);
  if (!done.failed) return { kind: exitCode === null || exitCode === 0 ? 'ok' : 'failed', output, exitCode };
  const text = done.text.trim();
  if (DENIED.test(text)) return { kind: 'denied', reason: text.replace(DENIED, '').trim() };
  if (ABORTED.test(text)) return { kind: 'aborted' };
  if (UNKNOWN.test(text.slice(0, 300))) return { kind: 'unknown' };
  return { kind: 'failed', output, exitCode };
}

export const worked = (done: Done): boolean => outcomeOf(done).kind === 'ok';

/** Commands answer as {output, metadata: {exit_code}}, or as plain text. */
function outputOf(text: string): { output: string; exitCode: number | null } {
  const data = jsonObject(text);
  if (typeof data?.output === 'string') {
    const metadata = isObject(data.metadata) ? data.metadata : {};
    const code = metadata.exit_code ?? data.exit_code;
    return { output: data.output, exitCode: typeof code === 'number' ? code : null };
  }
  const lines = text.trim().split('\n', 1_000_000);
  for (const line of [lines[0] ?? '', lines.at(-1) ?? '']) {
    const code = line.length < 200 ? EXIT_CODE.exec(line)?.[1] : undefined;
    if (code !== undefined) return { output: text, exitCode: Number(code) };
  }
  return { output: text, exitCode: null };
}

/** The readable text of a result: of a page its content, of a command its output. */
export function readable(done: Done): string {
  const data = jsonObject(done.text);
  for (const key of ['content', 'text', 'selectedText', 'selection', 'output', 'markdown']) {
    const value = data?.[key];
    if (typeof value === 'string') return value;
  }
  return done.text;
}

/** The title of a page, where the result names one. */
export function titleOf(done: Done): string {
  const title = jsonObject(done.text)?.title;
  return typeof title === 'string' ? title.trim() : '';
}

function jsonObject(text: string): Record<string, unknown> | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null; // text that only looks like JSON is text
  }
}
